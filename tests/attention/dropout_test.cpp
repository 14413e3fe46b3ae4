#include <headwise/attention/attend_backward.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/reference.hpp"

namespace headwise {
namespace {

using check::near;
using check::random;

TEST(Dropout, DropsTheShareItIsToldTo) {
  const DropoutFactor<double> factor({.rate = 0.25, .seed = 3}, 0);
  Index dropped = 0;
  for (Index i = 0; i < 200; ++i) {
    for (Index j = 0; j < 200; ++j) {
      const double f = factor(i, j);
      ASSERT_TRUE(f == 0 || std::abs(f - 1 / 0.75) < 1e-15);
      dropped += f == 0;
    }
  }
  EXPECT_NEAR(double(dropped), 0.25 * 40000, 5 * std::sqrt(40000 * 0.25 * 0.75));
}

TEST(Dropout, DependsOnSeedLayerHeadAndPair) {
  const auto drawn = [](std::uint64_t seed, Index layer, Index head) {
    const DropoutFactor<double> factor({.rate = 0.5, .seed = seed, .layer = layer}, head);
    Matrix<double> m(16, 16);
    for (Index i = 0; i < 16; ++i)
      for (Index j = 0; j < 16; ++j) m(i, j) = factor(i, j);
    return m;
  };
  const auto base = drawn(1, 0, 0);
  EXPECT_EQ(base, drawn(1, 0, 0));
  EXPECT_NE(base, drawn(2, 0, 0));
  EXPECT_NE(base, drawn(1, 1, 0));
  EXPECT_NE(base, drawn(1, 0, 1));
  EXPECT_NE(base, base.transpose());
}

TEST(Dropout, ActsOnTheWeightsAfterTheSoftmax) {
  const Dropout dropout{.rate = 0.4, .seed = 11, .layer = 2};
  const DropoutFactor<double> factor(dropout, 0);
  const auto query = random(30, 4, 1), key = random(30, 4, 2), value = random(30, 3, 3), d = random(30, 3, 4);
  reference::Problem problem;
  problem.keep = [&](Index q, Index k) { return factor(q, k); };
  const AttendOptions options{.dropout = dropout};
  const auto attended = attend_with_lse(query, key, value, options);
  EXPECT_TRUE(near(attended.output, reference::attention(query, key, value, problem), 1e-13));
  const auto g = attend_backward(query, key, value, attended, d, options);
  const auto expected = reference::backward(query, key, value, d, problem);
  EXPECT_TRUE(near(g.query, expected.query, 1e-12));
  EXPECT_TRUE(near(g.key, expected.key, 1e-12));
  EXPECT_TRUE(near(g.value, expected.value, 1e-12));
}

TEST(Dropout, GoesByRowsOfTheCallersMatrices) {
  const auto x = random(10, 4, 1);
  const Dropout dropout{.rate = 0.5, .seed = 5};
  const AttendOptions batch{.query_rows = RaggedRows::from_lengths({4, 6}), .dropout = dropout};
  const DropoutFactor<double> factor(dropout, 0);
  reference::Problem second;
  second.keep = [&](Index q, Index k) { return factor(4 + q, 4 + k); };
  const Matrix<double> tail = x.bottomRows(6);
  EXPECT_TRUE(
      near(attend(x, x, x, batch).bottomRows(6), reference::attention(tail, tail, tail, second), 1e-13));
}

TEST(Dropout, B128_BackwardDrawsTheFactorsOfForwardAgain) {
  auto query = random(6, 4, 1);
  const auto key = random(6, 4, 2), value = random(6, 3, 3), d = random(6, 3, 4);
  const AttendOptions options{.dropout = {.rate = 0.5, .seed = 9}};
  const auto g = attend_backward(query, key, value, attend_with_lse(query, key, value, options), d, options);
  const double step = 1e-6;
  for (Index i = 0; i < query.size(); i += 5) {
    const double before = query.data()[i];
    query.data()[i] = before + step;
    const double above = (attend(query, key, value, options).array() * d.array()).sum();
    query.data()[i] = before - step;
    const double below = (attend(query, key, value, options).array() * d.array()).sum();
    query.data()[i] = before;
    EXPECT_NEAR(g.query.data()[i], (above - below) / (2 * step), 1e-8);
  }
}

TEST(Dropout, B125_ScalesWhatItKeeps) {
  // Two keys with equal logits; a seed that keeps the first and drops the second.
  const Matrix<double> query = Matrix<double>::Zero(1, 1), key = Matrix<double>::Zero(2, 1);
  Matrix<double> value(2, 1);
  value << 1, 3;
  std::uint64_t seed = 0;
  while (DropoutFactor<double>({.rate = 0.5, .seed = seed}, 0)(0, 0) == 0 ||
         DropoutFactor<double>({.rate = 0.5, .seed = seed}, 0)(0, 1) != 0) {
    ++seed;
  }
  const AttendOptions options{.dropout = {.rate = 0.5, .seed = seed}};
  const auto attended = attend_with_lse(query, key, value, options);
  EXPECT_NEAR(attended.output(0, 0), 1, 1e-15);
  const Matrix<double> one = Matrix<double>::Ones(1, 1), unit_query = Matrix<double>::Ones(1, 1);
  const auto g = attend_backward(query, key, value, attended, one, options);
  EXPECT_TRUE(near(g.value, (Matrix<double>(2, 1) << 1, 0).finished(), 1e-15));
  // With query 1 and key 0 the gradient of the key is that of the score.
  const auto s =
      attend_backward(unit_query, key, value, attend_with_lse(unit_query, key, value, options), one, options);
  EXPECT_TRUE(near(s.key, (Matrix<double>(2, 1) << 0.5, -0.5).finished(), 1e-15));
}

}  // namespace
}  // namespace headwise
