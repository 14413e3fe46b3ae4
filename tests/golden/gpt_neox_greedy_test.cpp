// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <gtest/gtest.h>

#include "golden/greedy_case.hpp"
#include "support/published.hpp"

namespace headwise {
namespace {

TEST(GptNeoxGolden, StepsAndGreedyTextAgree) {
  for (const golden::Case& each : golden::cases("gpt_neox")) {
    SCOPED_TRACE(each.name());
    const auto decoder = published::load_gpt_neox<float>(golden::model_folder(each));
    golden::check_steps(decoder, each);
    golden::check_greedy(decoder, each);
  }
}

}  // namespace
}  // namespace headwise
