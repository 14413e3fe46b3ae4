#include <headwise/mask/none.hpp>
#include <headwise/score/none.hpp>

#include "golden/attention_case.hpp"

namespace headwise {
namespace {

/// Masks as the file's matrix of bools, broadcast as it is stored, by every kernel that this machine can run.
TEST(SdpaGolden, MatricesOfBoolsAgree) {
  for (const golden::Case& each : golden::cases("sdpa")) {
    SCOPED_TRACE(each.name());
    if (each.has("in.bias")) continue;  // sdpa_bias_test.cpp
    const auto unknown = each.settings_besides(golden::sdpa_settings);
    if (!unknown.empty() || (!each.has("in.mask") && each.text("mode") != "full")) {
      golden::skip(each, "mode " + each.text("mode") + ", other settings: " + unknown);
      continue;
    }
    const golden::AttentionCase attention(each);
    for (InstructionSet set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512}) {
      if (!is_available(set)) continue;
      SCOPED_TRACE(name(set));
      AttendOptions options = attention.options();
      options.instruction_set = set;
      if (each.has("in.mask")) {
        const auto mask = golden::dense_mask(each.tensor("in.mask"), attention.k_len);
        attention.expect(options, mask, score::None{});
      } else {
        attention.expect(options, mask::None{}, score::None{});
      }
    }
  }
}

}  // namespace
}  // namespace headwise
