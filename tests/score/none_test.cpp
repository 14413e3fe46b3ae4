#include <headwise/score/none.hpp>

#include <gtest/gtest.h>

#include "support/score_laws.hpp"

namespace headwise::score {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(None, ScoreLaws, None);

TEST(None, LeavesEveryScoreAsItIs) {
  const auto bound = bind_score<float>(None{}, Context{});
  for (float s : {-3.5f, 0.0f, 1e30f}) {
    EXPECT_EQ(bound(s, 0, 9), s);
    EXPECT_EQ(bound.pull_back(s, 0, 9, 0.25f).score, 0.25f);
  }
}

TEST(None, SaysSoThatKernelsNeedNotAsk) {
  static_assert(is_identity<None::Bound<float>>());
  static_assert(!reads_query<None>());
  static_assert(!has_sink<None::Bound<float>>());
  static_assert(learned_of<None::Bound<float>>().empty());
  EXPECT_EQ(operand_count(None{}), 0u);
}

}  // namespace
}  // namespace headwise::score
