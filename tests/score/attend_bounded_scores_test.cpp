#include <headwise/attention/attend.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/score/none.hpp>
#include <headwise/score/soft_cap.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/reference.hpp"

#include <cmath>
#include <functional>

/// No score policy and a soft cap, through the verb: two heads, causal, 65 tokens.
namespace headwise::attend_bounded_scores_test {
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

TEST(AttendWithBoundedScores, None) {
  // [docs score/none]
  const auto out = hw::attend(query, key, value, {.heads = 2}, hw::mask::Causal{}, hw::score::None{});
  const auto same = hw::attend(query, key, value, {.heads = 2}, hw::mask::Causal{});
  // [docs end]
  EXPECT_TRUE(near(out, expected([](double s, Index, Index, Index) { return s; }), 1e-13));
  EXPECT_TRUE(near(out, same, 0));
}

TEST(AttendWithBoundedScores, SoftCap) {
  // [docs score/soft_cap]
  const auto out =
      hw::attend(query, key, value, {.heads = 2}, hw::mask::Causal{}, hw::score::SoftCap{.limit = 1.5});
  // [docs end]
  EXPECT_TRUE(
      near(out, expected([](double s, Index, Index, Index) { return 1.5 * std::tanh(s / 1.5); }), 1e-13));
}

}  // namespace
}  // namespace headwise::attend_bounded_scores_test
