// Public reports about positions, each as a small input with the right answer. Two channels a head turn by
// one radian a position, and query and key are always [1, 0].
// The verb is compiled for one instruction set only: it is not what is tested here.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/attention/attend.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/position/rotary.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace headwise {
namespace {

using position::Pairing;
using position::Rotary;

const Rotary two_channels({.head_dim = 2});

Matrix<double> ones_and_zeros(Index rows) {
  Matrix<double> x = Matrix<double>::Zero(rows, 2);
  x.col(0).setOnes();
  return x;
}

Matrix<double> column(const std::vector<double>& values) {
  return Eigen::Map<const Matrix<double>>(values.data(), Index(values.size()), 1);
}

/// One query over the keys of a cache, all turned by where they stand.
double decoded(Position query, const std::vector<Position>& keys, const std::vector<double>& values) {
  const Matrix<double> q = rotate(ones_and_zeros(1), two_channels, 1, std::vector<Position>{query});
  const Matrix<double> k = rotate(ones_and_zeros(Index(keys.size())), two_channels, 1, keys);
  return attend(q, k, column(values))(0, 0);
}

/// The same by the definition: the score of a pair is the cosine of its distance, over sqrt(2).
double defined(Position query, const std::vector<Position>& keys, const std::vector<double>& values) {
  double sum = 0, weighted = 0;
  for (std::size_t j = 0; j < keys.size(); ++j) {
    const double weight = std::exp(std::cos(double(query - keys[j])) / std::sqrt(2.0));
    sum += weight;
    weighted += weight * values[j];
  }
  return weighted / sum;
}

TEST(PositionCases, B55_ACachedStepTurnsTheQueryByItsOwnPosition) {
  const std::vector<Position> keys{0, 1, 2};
  EXPECT_NEAR(decoded(2, keys, {1, 2, 4}), 2.78121013, 5e-9);
  EXPECT_NEAR(decoded(2, keys, {1, 2, 4}), defined(2, keys, {1, 2, 4}), 1e-12);
  EXPECT_NEAR(decoded(0, keys, {1, 2, 4}), 1.87307968, 5e-9) << "what the mistake would give";
}

TEST(PositionCases, B56_EachStepCountsFromTheRowsInTheCache) {
  const std::vector<double> values{1, 2, 4, 8};
  const Matrix<double> turned = rotate(ones_and_zeros(4), two_channels, 1);
  const Matrix<double> whole = attend(turned, turned, column(values), mask::Causal{});
  EXPECT_NEAR(whole(2, 0), 2.78121013, 5e-9);
  EXPECT_NEAR(whole(3, 0), 5.08395446, 5e-9);

  Matrix<double> cache = rotate(ones_and_zeros(2), two_channels, 1);  // the prompt
  for (Index step : {2, 3}) {
    const Matrix<double> next = rotate(ones_and_zeros(1), two_channels, 1, cache.rows());
    cache.conservativeResize(cache.rows() + 1, 2);
    cache.bottomRows(1) = next;
    const Matrix<double> seen = column(values).topRows(cache.rows());
    EXPECT_NEAR(attend(next, cache, seen)(0, 0), whole(step, 0), 1e-12);
  }
}

TEST(PositionCases, B58_KeptRowsKeepTheirPositionsAfterEviction) {
  EXPECT_NEAR(decoded(4, {0, 3, 4}, {1, 8, 16}), 10.86557444, 5e-9);
  EXPECT_NEAR(decoded(4, {0, 3, 4}, {1, 8, 16}), defined(4, {0, 3, 4}, {1, 8, 16}), 1e-12);
  EXPECT_GT(std::abs(decoded(2, {0, 1, 2}, {1, 8, 16}) - 10.86557444), 0.1) << "positions by rows differ";
}

TEST(PositionCases, B59_HeadsOfOneTokenTurnAlike) {
  Matrix<double> q(1, 4);
  q << 1, 0, 1, 0;
  for (Pairing pairing : {Pairing::half_split, Pairing::interleaved}) {
    const Rotary rotary({.head_dim = 2, .pairing = pairing});
    EXPECT_TRUE(rotate(q, rotary, 2) == q) << "position 0 turns nothing";
    const Matrix<double> later = rotate(q, rotary, 2, 5);
    EXPECT_EQ(later(0, 0), later(0, 2));
    EXPECT_EQ(later(0, 1), later(0, 3));
  }
}

/// Angles in bf16 have 8 bits: 257 is 256 there. Tables are made in double whatever they are stored in.
TEST(PositionCases, B61_NeighbouringPositionsDoNotCollide) {
  const auto turned = [](Position position) {
    Matrix<float> x(1, 2);
    x << 1, 0;
    return rotate(x, two_channels, 1, std::vector<Position>{position});
  };
  EXPECT_NEAR(turned(257)(0, 0), 0.81930553, 1e-7);
  EXPECT_NEAR(turned(257)(0, 1), -0.57335717, 1e-7);
  EXPECT_NEAR(turned(256)(0, 0), -0.03979076, 1e-7) << "what the mistake would give";
  // Float has 24 bits: the next two are one number there.
  for (Position far : {16'777'216, 16'777'217}) EXPECT_NEAR(turned(far)(0, 0), std::cos(double(far)), 1e-7);
}

}  // namespace
}  // namespace headwise
