#include <headwise/attention/attend.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/score/dense_bias.hpp>
#include <headwise/score/t5_bias.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/reference.hpp"

#include <algorithm>
#include <cmath>

/// Scores that read a table, through the verb: two heads, 63 tokens.
namespace headwise::attend_table_scores_test {
namespace {

namespace hw = headwise;
using check::near;

const Matrix<double> query = check::random(63, 8, 1), key = check::random(63, 8, 2),
                     value = check::random(63, 8, 3);

/// One head of the whole in plain loops.
Matrix<double> expected(Index head, const reference::Problem& p) {
  return reference::attention(query.middleCols(4 * head, 4), key.middleCols(4 * head, 4),
                              value.middleCols(4 * head, 4), p);
}

TEST(AttendWithTableScores, T5Bias) {
  const Matrix<double> table = check::random(32, 2, 4);
  // [docs score/t5_bias]
  // [32 buckets, 2 heads], as in checkpoints. T5 itself does not scale query . key.
  const hw::score::T5Bias bias(table, {.direction = hw::score::T5Direction::causal});
  const auto out = hw::attend(query, key, value, {.heads = 2, .scale = 1.0}, hw::mask::Causal{}, bias);
  // [docs end]
  const auto bucket = [](Index n) {
    return n < 16 ? n : std::min<Index>(31, 16 + Index(std::log(double(n) / 16) / std::log(8.0) * 16));
  };
  for (Index head : {0, 1}) {
    reference::Problem p;
    p.scale = 1;
    p.allows = [](Index q, Index k) { return k <= q; };
    p.score = [&](double s, Index q, Index k) { return s + table(bucket(q - k), head); };
    EXPECT_TRUE(near(out.middleCols(4 * head, 4).eval(), expected(head, p), 1e-13));
  }
}

TEST(AttendWithTableScores, DenseBias) {
  const Matrix<double> table = check::random(2 * 63, 63, 4);
  // [docs score/dense_bias]
  // One block [63 queries, 63 keys] for each head, stacked row under row; -inf removes a key.
  const auto bias = hw::score::dense_bias(table, {.heads = 2});
  const auto out = hw::attend(query, key, value, {.heads = 2}, hw::mask::None{}, bias);
  // [docs end]
  for (Index head : {0, 1}) {
    reference::Problem p;
    p.score = [&](double s, Index q, Index k) { return s + table(63 * head + q, k); };
    EXPECT_TRUE(near(out.middleCols(4 * head, 4).eval(), expected(head, p), 1e-13));
  }
}

/// The additive mask [[[0, -inf]], [[-inf, 0]]] of two query heads on one kv head, v = [1, 2], q = 0.
TEST(AttendWithTableScores, B32_OneRowAHeadAndOneKvHead) {
  const double inf = math::infinity<double>;
  Matrix<double> table(2, 2), values(2, 1), out(2, 2);
  table << 0, -inf, -inf, 0;
  values << 1, 2;
  out << 1, 2, 1, 2;
  const Matrix<double> zeros = Matrix<double>::Zero(2, 2), zero_keys = Matrix<double>::Zero(2, 1);
  EXPECT_TRUE(near(attend(zeros, zero_keys, values, {.heads = 2, .kv_heads = 1}, mask::None{},
                          score::dense_bias(table, {.heads = 2})),
                   out, 0));
}

}  // namespace
}  // namespace headwise::attend_table_scores_test
