#include <headwise/attention/sinkhorn_sort.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"

#include <cmath>

namespace headwise {
namespace {

using check::near;
using check::random;

TEST(Sinkhorn, HasThePublishedNumbers) {
  Matrix<double> scores(4, 4), first(1, 4), sums(4, 1);
  for (Index a = 0; a < 4; ++a)
    for (Index c = 0; c < 4; ++c) scores(a, c) = std::sin(1.3 * double(a) + 2.2 * double(c));
  const Matrix<double> weights = sinkhorn(scores, {.iterations = 8, .temperature = 1});
  first << 0.175965893051, 0.516187320052, 0.061531738633, 0.246315428080;
  sums << 3.8e-7, 3.4e-7, -1.8e-7, -5.4e-7;
  EXPECT_TRUE(near(weights.row(0), first, 1e-11));
  EXPECT_TRUE(near(Matrix<double>(weights.rowwise().sum()), Matrix<double>(sums.array() + 1), 6e-9));
  EXPECT_TRUE(near(Matrix<double>(weights.colwise().sum()), Matrix<double>::Ones(1, 4), 1e-14));
}

TEST(Sinkhorn, B97_ScoresOfAnySizeStayFinite) {
  Matrix<double> scores(2, 2);
  scores << 1000, 0, 0, 1000;
  EXPECT_TRUE(
      near(sinkhorn(scores, {.iterations = 8, .temperature = 1}), Matrix<double>::Identity(2, 2), 1e-12));
}

TEST(Sinkhorn, BackwardIsTheDerivative) {
  const Matrix<double> noise = random(5, 5, 3), d = random(5, 5, 2);
  for (const SinkhornOrder order : {SinkhornOrder::whole, SinkhornOrder::causal}) {
    for (const SinkhornScores kind : {SinkhornScores::logits, SinkhornScores::positive}) {
      Matrix<double> x = random(5, 5, 1);
      const SinkhornOptions options{.iterations = 4, .order = order, .scores = kind};
      const auto got = sinkhorn_backward(x, d, options, noise);
      for (Index i = 0; i < x.size(); ++i) {
        const double kept = x.data()[i], step = 1e-6;
        x.data()[i] = kept + step;
        const double up = sinkhorn(x, options, noise).cwiseProduct(d).sum();
        x.data()[i] = kept - step;
        const double down = sinkhorn(x, options, noise).cwiseProduct(d).sum();
        x.data()[i] = kept;
        EXPECT_NEAR(got.data()[i], (up - down) / (2 * step), 1e-7) << int(order) << int(kind) << i;
      }
    }
  }
}

TEST(Sinkhorn, CausalWeightsKnowNoLaterBlock) {
  Matrix<double> scores = random(6, 6, 1);
  const SinkhornOptions causal{.order = SinkhornOrder::causal};
  const Matrix<double> before = sinkhorn(scores, causal);
  scores.bottomRows(2) = random(2, 6, 2);
  const Matrix<double> after = sinkhorn(scores, causal);
  EXPECT_EQ(Matrix<double>(after.topRows(4)), Matrix<double>(before.topRows(4)));
  EXPECT_NE(Matrix<double>(after.bottomRows(2)), Matrix<double>(before.bottomRows(2)));
  for (Index b = 0; b < 6; ++b)
    for (Index c = b; c < 6; ++c) EXPECT_EQ(after(b, c), 0);
}

TEST(BestBlocks, KeepTheLargestOfWhatIsLeft) {
  Matrix<double> scores(1, 3), expected(2, 3);
  scores << 1, 3, 2;
  const double e = std::exp(1.0);
  expected << 0, e * e / (1 + e + e * e), 0, 0, 0, e / (1 + e);
  EXPECT_TRUE(near(best_blocks(scores, 2), expected, 1e-15));
  Matrix<double> x = random(3, 5, 1);
  const Matrix<double> d = random(6, 5, 2), got = best_blocks_backward(x, d, 2);
  for (Index i = 0; i < x.size(); ++i) {
    const double kept = x.data()[i], step = 1e-6;
    x.data()[i] = kept + step;
    const double up = best_blocks(x, 2).cwiseProduct(d).sum();
    x.data()[i] = kept - step;
    const double down = best_blocks(x, 2).cwiseProduct(d).sum();
    x.data()[i] = kept;
    EXPECT_NEAR(got.data()[i], (up - down) / (2 * step), 1e-8);
  }
}

}  // namespace
}  // namespace headwise
