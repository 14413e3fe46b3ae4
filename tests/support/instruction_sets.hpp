#pragma once

#include <headwise/core/instruction_set.hpp>

#include <vector>

/// What tests run on.
namespace headwise::check {

/// Every instruction set that this machine has, the narrowest first.
inline std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets;
  for (const InstructionSet set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512})
    if (is_available(set)) sets.push_back(set);
  return sets;
}

}  // namespace headwise::check
