#pragma once

#include <string>

namespace headwise::report {

/// What one core of this machine can do at most, measured here, so that every figure is a ratio within one
/// run.
struct Ceilings {
  double flops_per_second = 0;  ///< multiply-adds in registers, float, widest vectors of the CPU
  double bytes_per_second = 0;  ///< triad a = b + s c over arrays that no private cache holds
  std::string instruction_set;  ///< the one that reached flops_per_second
  double triad_bytes = 0;       ///< size of the three arrays together
};

/// Takes about half a second, and 192 MiB while it runs.
Ceilings measure_ceilings();

}  // namespace headwise::report
