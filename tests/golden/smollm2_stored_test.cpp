// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <gtest/gtest.h>

#include "golden/smollm2_checks.hpp"
#include "support/published.hpp"

namespace headwise {
namespace {

/// Weights as the file has them, Q4_1 and Q8_0, multiplied from there: the same numbers within the same
/// tolerances.
TEST(Smollm2Golden, StatesLogitsAndGreedyTextAgreeWithStoredWeights) {
  if (const auto missing = golden::smollm2_missing(); !missing.empty()) GTEST_SKIP() << missing;
  const auto decoder = published::load_stored_llama(golden::smollm2_file().string());
  golden::check_smollm2_prompts(decoder);
  golden::check_smollm2_greedy(decoder);
}

}  // namespace
}  // namespace headwise
