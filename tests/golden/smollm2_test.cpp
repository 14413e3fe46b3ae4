// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <gtest/gtest.h>

#include "golden/smollm2_checks.hpp"
#include "support/published.hpp"

namespace headwise {
namespace {

TEST(Smollm2Golden, StatesLogitsAndGreedyTextAgreeInFloat) {
  if (const auto missing = golden::smollm2_missing(); !missing.empty()) GTEST_SKIP() << missing;
  const auto decoder = published::load_llama_gguf<float>(golden::smollm2_file().string());
  golden::check_smollm2_prompts(decoder);
  golden::check_smollm2_greedy(decoder);
}

}  // namespace
}  // namespace headwise
