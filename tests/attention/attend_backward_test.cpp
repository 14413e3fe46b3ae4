#include <headwise/attention/attend_backward.hpp>

#include <gtest/gtest.h>

#include "support/any_mask.hpp"
#include "support/check.hpp"
#include "support/heads.hpp"
#include "support/thrown.hpp"

#include <limits>

namespace headwise::attend_backward_test {
namespace {

using check::AnyMask;
using check::near;
using check::random;

const double nan = std::numeric_limits<double>::quiet_NaN();

void expect_gradients(const AttendGradients<double>& got, const reference::Gradients& expected,
                      double tolerance) {
  EXPECT_TRUE(near(got.query, expected.query, tolerance)) << "d query";
  EXPECT_TRUE(near(got.key, expected.key, tolerance)) << "d key";
  EXPECT_TRUE(near(got.value, expected.value, tolerance)) << "d value";
}

TEST(AttendBackward, EqualsTheAdjointAtHostileSizes) {
  const AnyMask causal = [](Index q, Index k) { return k <= q; };
  for (const Index q_len : {0, 1, 24, 25, 63, 65}) {
    for (const Index k_len : {0, 1, 8, 9, 64, 65, 210}) {
      const auto query = random(q_len, 5, 1), key = random(k_len, 5, 2), value = random(k_len, 3, 3),
                 d = random(q_len, 3, 4);
      const AttendOptions options{.query_offset = align_last};
      reference::Problem problem;
      problem.allows = [&](Index q, Index k) { return k <= q + k_len - q_len; };
      const auto attended = attend_with_lse(query, key, value, options, causal);
      expect_gradients(attend_backward(query, key, value, attended, d, options, causal),
                       reference::backward(query, key, value, d, problem), 1e-12);
    }
  }
}

TEST(AttendBackward, SumsOverTheHeadsThatShareKeys) {
  const auto query = random(11, 6 * 4, 1), key = random(11, 2 * 4, 2), value = random(11, 2 * 3, 3),
             d = random(11, 6 * 3, 4);
  const AttendOptions options{.heads = 6, .kv_heads = 2};
  const AnyMask all = [](Index, Index) { return true; };
  const auto attended = attend_with_lse(query, key, value, options, all);
  expect_gradients(attend_backward(query, key, value, attended, d, options, all),
                   reference::backward(query, key, value, d, 6, 2), 1e-12);
}

TEST(AttendBackward, TakesAGradientOfTheLogSumExp) {
  const auto query = random(9, 4, 1), key = random(9, 4, 2), value = random(9, 3, 3), d = random(9, 3, 4),
             d_lse = random(9, 1, 5);
  const AnyMask some = [](Index q, Index k) { return (q + k) % 3 != 0 && q != 4; };
  const auto attended = attend_with_lse(query, key, value, AttendOptions{}, some);
  reference::Problem problem;
  problem.allows = some;
  const std::vector<double> outer(d_lse.data(), d_lse.data() + 9);
  expect_gradients(
      attend_backward(query, key, value, attended, Attended<double>{d, d_lse}, AttendOptions{}, some),
      reference::backward(query, key, value, d, problem, outer), 1e-12);
}

TEST(AttendBackward, LetsNothingHiddenReachAGradient) {
  auto query = random(30, 4, 1), key = random(30, 4, 2), value = random(30, 4, 3), d = random(30, 4, 4);
  const AnyMask mask = [](Index q, Index k) { return k != 7 && k != 20 && q != 3; };
  const auto clean = attend_backward(
      query, key, value, attend_with_lse(query, key, value, AttendOptions{}, mask), d, AttendOptions{}, mask);
  key.row(7).setConstant(nan);
  value.row(20).setConstant(std::numeric_limits<double>::infinity());
  query.row(3).setConstant(nan);
  d.row(3).setConstant(nan);
  const auto poisoned = attend_backward(
      query, key, value, attend_with_lse(query, key, value, AttendOptions{}, mask), d, AttendOptions{}, mask);
  EXPECT_TRUE(near(poisoned.query, clean.query, 1e-13));
  EXPECT_TRUE(near(poisoned.key, clean.key, 1e-13));
  EXPECT_TRUE(near(poisoned.value, clean.value, 1e-13));
  EXPECT_TRUE(poisoned.key.row(7).isZero(0.0));
  EXPECT_TRUE(poisoned.value.row(20).isZero(0.0));
  EXPECT_TRUE(poisoned.query.row(3).isZero(0.0));
}

TEST(AttendBackward, B118_ReadsAnUpstreamGradientOfStrideZero) {
  const Matrix<double> query = Matrix<double>::Zero(2, 1), key = random(2, 1, 1), value = random(2, 1, 2);
  const double one = 1;
  const Eigen::Map<const Matrix<double>, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>> ones(
      &one, 2, 1, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(0, 0));
  const AnyMask all = [](Index, Index) { return true; };
  const auto attended = attend_with_lse(query, key, value, AttendOptions{}, all);
  EXPECT_TRUE(near(attend_backward(query, key, value, attended, ones, AttendOptions{}, all).value,
                   Matrix<double>::Ones(2, 1), 1e-15));
}

TEST(AttendBackward, NamesTheTermThatDoesNotFit) {
  const auto x = random(4, 6, 1);
  const AnyMask all = [](Index, Index) { return true; };
  const auto attended = attend_with_lse(x, x, x, AttendOptions{}, all);
  try {
    (void)attend_backward(x, x, x, attended, random(3, 6, 2), AttendOptions{}, all);
    FAIL() << "accepted a gradient of 3 rows for an output of 4";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "attend_backward: d_output rows is 3, expected 4; the shape of output");
  }
}

// Query 0 sees a NaN, and its log-sum-exp is one. The keys that are hidden from it lie in one tile with it.
TEST(AttendBackward, ARowThatSeesANaNKeepsItFromKeysHiddenFromIt) {
  const Index n = 16;
  Matrix<double> key = random(n, 2, 1);
  const auto query = random(n, 2, 2), value = random(n, 3, 3), d = random(n, 3, 4);
  const AnyMask halves = [](Index q, Index k) { return q == 0 ? k >= 8 : k < 8; };
  const AnyMask others = [](Index q, Index k) { return q != 0 && k < 8; };
  const auto clean = attend_backward(query, key, value, attend_with_lse(query, key, value, others), d,
                                     AttendOptions{}, others);
  key(8, 0) = nan;
  const auto got = attend_backward(query, key, value, attend_with_lse(query, key, value, halves), d,
                                   AttendOptions{}, halves);
  EXPECT_TRUE(near(got.value.topRows(8), clean.value.topRows(8), 1e-12));
  EXPECT_TRUE(near(got.key.topRows(8), clean.key.topRows(8), 1e-12));
  EXPECT_TRUE(near(got.query.bottomRows(n - 1), clean.query.bottomRows(n - 1), 1e-12));
}

TEST(AttendBackward, RefusesWhatForwardRefusesInItsOwnName) {
  const auto x = random(4, 6, 1);
  const AnyMask all = [](Index, Index) { return true; };
  EXPECT_EQ(check::thrown<ShapeError>([&] {
              (void)attend_backward(x, x, random(5, 6, 2), Attended<double>{}, x, AttendOptions{}, all);
            }),
            "attend_backward: value rows is 5, expected 4; one value a key");
  EXPECT_EQ(check::thrown<ShapeError>([&] {
              (void)attend_backward(x, x, x, Attended<double>{}, x, AttendOptions{.heads = 4}, all);
            }),
            "attend_backward: query columns is 6, expected a multiple of 4 (heads)");
}

}  // namespace
}  // namespace headwise::attend_backward_test
