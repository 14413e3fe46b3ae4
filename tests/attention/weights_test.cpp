#include <headwise/attention/weights.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/score/soft_cap.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/reference.hpp"

#include <cmath>
#include <limits>

namespace headwise::weights_test {
namespace {

using check::near;
using check::random;

TEST(AttentionWeights, AreTheSoftmaxHeadByHead) {
  const auto query = random(9, 8, 1), key = random(9, 4, 2);
  const auto weights = attention_weights(query, key, {.heads = 2, .kv_heads = 1}, mask::Causal{});
  reference::Problem causal;
  causal.allows = [](Index q, Index k) { return k <= q; };
  ASSERT_EQ(weights.rows(), 18);
  EXPECT_TRUE(
      near(weights.topRows(9), reference::forward(query.leftCols(4), key, key, causal).weights, 1e-14));
  EXPECT_TRUE(
      near(weights.bottomRows(9), reference::forward(query.rightCols(4), key, key, causal).weights, 1e-14));
}

TEST(AttentionWeights, B38_AreExactlyZeroWhereTheMaskHides) {
  const Matrix<double> zero = Matrix<double>::Zero(3, 1);
  const auto weights = attention_weights(zero, zero, {}, mask::Causal{});
  const double third = 1.0 / 3;
  EXPECT_TRUE(
      near(weights, (Matrix<double>(3, 3) << 1, 0, 0, 0.5, 0.5, 0, third, third, third).finished(), 1e-15));
  EXPECT_EQ(weights(0, 1), 0.0);
}

TEST(AttentionWeights, StackTheSequencesOfABatch) {
  const auto x = random(5, 4, 1);
  const AttendOptions options{.query_rows = RaggedRows::from_lengths({2, 3})};
  const auto weights = attention_weights(x, x, options);
  ASSERT_EQ(weights.rows(), 5);
  ASSERT_EQ(weights.cols(), 3);
  EXPECT_TRUE(weights.col(2).head(2).isZero(0.0));
  EXPECT_TRUE(near(weights.rowwise().sum(), Matrix<double>::Ones(5, 1), 1e-14));
}

TEST(AttentionScores, AreWhatTheSoftmaxIsTakenOf) {
  const auto query = random(5, 8, 1), key = random(7, 4, 2);
  const AttendOptions options{.heads = 2, .kv_heads = 1, .scale = 0.3, .query_offset = 2};
  const auto bare = attention_scores(query, key, options);
  const auto capped = attention_scores(query, key, options, mask::Causal{}, score::SoftCap{.limit = 2});
  ASSERT_EQ(capped.rows(), 10);
  ASSERT_EQ(capped.cols(), 7);
  for (Index head = 0; head < 2; ++head) {
    for (Index i = 0; i < 5; ++i) {
      for (Index j = 0; j < 7; ++j) {
        double dot = 0;
        for (Index x = 0; x < 4; ++x) dot += query(i, 4 * head + x) * key(j, x);
        EXPECT_NEAR(bare(5 * head + i, j), 0.3 * dot, 1e-14);
        if (j <= i + 2) {
          EXPECT_NEAR(capped(5 * head + i, j), 2 * std::tanh(0.3 * dot / 2), 1e-14);
        } else {
          EXPECT_EQ(capped(5 * head + i, j), -std::numeric_limits<double>::infinity());
        }
      }
    }
  }
}

}  // namespace
}  // namespace headwise::weights_test
