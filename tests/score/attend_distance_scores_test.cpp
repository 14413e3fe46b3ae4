#include <headwise/attention/attend.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/score/alibi.hpp>
#include <headwise/score/function.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/reference.hpp"

#include <cmath>
#include <functional>

/// Scores that fall with distance, through the verb: two heads, causal, 65 tokens.
namespace headwise::attend_distance_scores_test {
namespace {

namespace hw = headwise;
using check::near;

const Matrix<double> query = check::random(65, 8, 1), key = check::random(65, 8, 2),
                     value = check::random(65, 8, 3);

/// score(s, query, key, head) in plain loops.
Matrix<double> expected(const std::function<double(double, Index, Index, Index)>& score) {
  Matrix<double> out(65, 8);
  for (Index head = 0; head < 2; ++head) {
    reference::Problem p;
    p.allows = [](Index q, Index k) { return k <= q; };
    p.score = [&](double s, Index q, Index k) { return score(s, q, k, head); };
    out.middleCols(4 * head, 4) = reference::attention(
        query.middleCols(4 * head, 4), key.middleCols(4 * head, 4), value.middleCols(4 * head, 4), p);
  }
  return out;
}

TEST(AttendWithDistanceScores, Alibi) {
  // [docs score/alibi]
  const hw::score::Alibi alibi{2};  // the number of query heads
  const auto out = hw::attend(query, key, value, {.heads = 2}, hw::mask::Causal{}, alibi);

  // Where the future is seen: a penalty on both sides.
  const hw::score::Alibi both{2, {.distance = hw::score::AlibiDistance::symmetric}};
  // [docs end]
  const double slope[] = {0x1p-4, 0x1p-8};
  EXPECT_TRUE(
      near(out, expected([&](double s, Index q, Index k, Index h) { return s - slope[h] * double(q - k); }),
           1e-13));
  EXPECT_TRUE(near(hw::attend(query, key, value, {.heads = 2}, hw::mask::Causal{}, both), out, 1e-13));
}

TEST(AttendWithDistanceScores, Function) {
  // [docs score/function]
  // Distance counts by its logarithm: s - log(1 + query - key).
  const auto recency = hw::score::function(
      [](auto s, hw::Position q, hw::Position k) {
        using S = decltype(s);
        return s - hw::math::log(S(1) + S(q - k));
      },
      [](auto s, hw::Position, hw::Position) { return decltype(s)(1); });  // d/ds, for backward
  const auto out = hw::attend(query, key, value, {.heads = 2}, hw::mask::Causal{}, recency);
  // [docs end]
  EXPECT_TRUE(near(
      out, expected([](double s, Index q, Index k, Index) { return s - std::log1p(double(q - k)); }), 1e-13));
}

}  // namespace
}  // namespace headwise::attend_distance_scores_test
