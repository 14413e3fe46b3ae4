#include <headwise/attention/attend.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/score/chain.hpp>
#include <headwise/score/dense_bias.hpp>
#include <headwise/score/sink.hpp>
#include <headwise/score/soft_cap.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/reference.hpp"

#include <cmath>

/// A sink, alone and at the end of a chain, through the verb: two heads, 63 tokens.
namespace headwise::attend_sink_scores_test {
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

TEST(AttendWithSinkScores, Sink) {
  const Matrix<double> logits = check::random(2, 1, 4);
  // [docs score/sink]
  const hw::score::Sink sink(logits);  // [2 heads, 1]; zeros are the "softmax plus one"
  const auto out = hw::attend(query, key, value, {.heads = 2}, hw::mask::Causal{}, sink);
  // [docs end]
  for (Index head : {0, 1}) {
    reference::Problem p;
    p.allows = [](Index q, Index k) { return k <= q; };
    p.sink = logits(head, 0);
    EXPECT_TRUE(near(out.middleCols(4 * head, 4).eval(), expected(head, p), 1e-13));
  }
}

TEST(AttendWithSinkScores, Chain) {
  const Matrix<double> table = check::random(1, 63, 4), logits = check::random(2, 1, 5);
  // [docs score/chain]
  using namespace hw::score;
  // In written order: first the bias, then the cap, and beside the capped scores the sink.
  const auto score = dense_bias(table) >> SoftCap{.limit = 2} >> Sink(logits);
  const auto out = hw::attend(query, key, value, {.heads = 2}, hw::mask::None{}, score);
  // [docs end]
  for (Index head : {0, 1}) {
    reference::Problem p;
    p.score = [&](double s, Index, Index k) { return 2 * std::tanh((s + table(0, k)) / 2); };
    p.sink = logits(head, 0);
    EXPECT_TRUE(near(out.middleCols(4 * head, 4).eval(), expected(head, p), 1e-13));
  }
}

}  // namespace
}  // namespace headwise::attend_sink_scores_test
