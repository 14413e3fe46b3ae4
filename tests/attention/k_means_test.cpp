#include <headwise/attention/k_means.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"

#include <cmath>
#include <functional>

namespace headwise {
namespace {

using check::near;
using check::random;

/// The gradient of sum(f(x) o d), by difference quotients.
Matrix<double> differences(Matrix<double> x, const Matrix<double>& d,
                           const std::function<Matrix<double>(const Matrix<double>&)>& f) {
  const double step = 1e-6;
  Matrix<double> gradient(x.rows(), x.cols());
  for (Index i = 0; i < x.size(); ++i) {
    const double kept = x.data()[i];
    x.data()[i] = kept + step;
    const double up = f(x).cwiseProduct(d).sum();
    x.data()[i] = kept - step;
    gradient.data()[i] = (up - f(x).cwiseProduct(d).sum()) / (2 * step);
    x.data()[i] = kept;
  }
  return gradient;
}

TEST(HeadNorm, UnitHeadsHaveLengthOneAndZerosStay) {
  Matrix<double> x = random(5, 6, 1);
  x.row(2).head(3).setZero();
  const Matrix<double> y = unit_heads(x, 2);
  for (Index row = 0; row < 5; ++row)
    for (Index head = 0; head < 2; ++head)
      EXPECT_NEAR(y.row(row).segment(head * 3, 3).norm(), row == 2 && head == 0 ? 0.0 : 1.0, 1e-15);
  EXPECT_TRUE(near(y.row(0).head(3) * x.row(0).head(3).norm(), x.row(0).head(3), 1e-15));
  EXPECT_TRUE(near(unit_heads_backward(x, x, 2).row(2).head(3), Matrix<double>::Zero(1, 3), 0));
}

TEST(HeadNorm, StandardHeadsHaveMeanZeroAndTheirDimensionAsSquareLength) {
  const Matrix<double> y = standard_heads(random(5, 8, 1), 2);
  for (Index row = 0; row < 5; ++row)
    for (Index head = 0; head < 2; ++head) {
      EXPECT_NEAR(y.row(row).segment(head * 4, 4).sum(), 0, 1e-14);
      EXPECT_NEAR(y.row(row).segment(head * 4, 4).squaredNorm(), 4, 1e-14);
    }
  EXPECT_TRUE(near(standard_heads(Matrix<double>::Constant(1, 4, 3.0), 1), Matrix<double>::Zero(1, 4), 0));
}

TEST(HeadNorm, BackwardIsTheDerivative) {
  const Matrix<double> x = random(4, 6, 1), d = random(4, 6, 2);
  for (const double epsilon : {0.0, 0.3}) {
    EXPECT_TRUE(near(unit_heads_backward(x, d, 2, epsilon),
                     differences(x, d, [&](const auto& at) { return unit_heads(at, 2, epsilon); }), 1e-8));
    EXPECT_TRUE(near(standard_heads_backward(x, d, 2, epsilon),
                     differences(x, d, [&](const auto& at) { return standard_heads(at, 2, epsilon); }),
                     1e-8));
  }
}

/// Constant data: every centroid that has tokens comes to lie on them, whatever it began as.
TEST(KMeans, AveragesOfConstantDataStayOnIt) {
  const Matrix<double> x = standard_heads(random(1, 4, 1), 1).replicate(6, 1);
  CentroidAverages<double> averages = CentroidAverages<double>::of(random(1, 4, 2), 1);
  for (int step = 0; step < 400; ++step)
    averages = averages.after(x, nearest_centroids(x, averages.sums), 0.9);
  EXPECT_TRUE(near(averages.centroids(0), x.topRows(1), 1e-12));
  EXPECT_NEAR(averages.counts(0, 0), 6, 1e-12);
  const auto next = averages.after(x, nearest_centroids(x, averages.sums), 0.9);
  EXPECT_TRUE(near(next.sums, averages.sums, 1e-12));
}

TEST(KMeans, AStepIsTheDirectionOfTheSumAndEmptyClustersKeepTheirs) {
  Matrix<double> x(3, 2), centroids(3, 2), expected(3, 2);
  x << 1, 0, 0.6, 0.8, -1, 0;
  centroids << 1, 0.1, -1, 0.1, 0, -1;
  const double norm = std::sqrt(1.6 * 1.6 + 0.8 * 0.8);
  expected << 1.6 / norm, 0.8 / norm, -1, 0, 0, -1;
  const NearestCentroids nearest = nearest_centroids(x, centroids);
  EXPECT_EQ(nearest.numbers, (std::vector<std::int32_t>{0, 0, 1}));
  EXPECT_TRUE(near(k_means_step(x, centroids, nearest), expected, 1e-15));
}

TEST(KMeans, CommitmentIsTheMeanSquareAndItsGradient) {
  const Matrix<double> x = random(5, 4, 1), centroids = random(3, 4, 2);
  const NearestCentroids nearest = nearest_centroids(x, centroids, 2);
  const auto got = commitment(x, centroids, nearest, 0.5);
  double sum = 0;
  Matrix<double> gradient(5, 4);
  for (Index i = 0; i < 5; ++i)
    for (Index c = 0; c < 4; ++c) {
      const double apart = x(i, c) - centroids(nearest.of(c / 2)[std::size_t(i)], c);
      sum += apart * apart;
      gradient(i, c) = 2 * 0.5 * apart / 20;
    }
  EXPECT_NEAR(got.loss, 0.5 * sum / 20, 1e-15);
  EXPECT_TRUE(near(got.gradient, gradient, 1e-15));
}

TEST(KMeans, RefusesWhatDoesNotFit) {
  const Matrix<double> x = random(2, 4, 1), centroids = random(3, 4, 2);
  const auto refusal = [](const std::function<void()>& call) {
    try {
      call();
    } catch (const ShapeError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal([&] { (void)nearest_centroids(x, centroids, 3); }),
            "nearest_centroids: columns of x is 4, expected a multiple of 3 (heads)");
  EXPECT_EQ(refusal([&] { (void)averaged_centroids(centroids, centroids, 1.5); }),
            "averaged_centroids: decay is 1.500000, expected between 0 and 1");
  EXPECT_EQ(refusal([&] { (void)averaged_centroids(centroids, x, 0.5); }),
            "averaged_centroids: rows is 2, expected 3");
}

}  // namespace
}  // namespace headwise
