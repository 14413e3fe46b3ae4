#include <headwise/position/rotary.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/thrown.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <limits>

namespace headwise::position::rotary_test {
namespace {

using check::near;
using check::random;
using check::thrown;

constexpr auto half_split = Pairing::half_split, interleaved = Pairing::interleaved;

Matrix<double> row(std::initializer_list<double> values) {
  Matrix<double> result(1, Index(values.size()));
  std::copy(values.begin(), values.end(), result.data());
  return result;
}

/// The definition, one number at a time.
Matrix<double> rotated(const Matrix<double>& x, Index heads, Index rotary_dim, double theta, Pairing pairing,
                       std::span<const Position> positions) {
  Matrix<double> result = x;
  const Index head_dim = x.cols() / heads;
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index h = 0; h < heads; ++h) {
      for (Index t = 0; t < rotary_dim / 2; ++t) {
        const Index a = h * head_dim + (pairing == interleaved ? 2 * t : t);
        const Index b = h * head_dim + (pairing == interleaved ? 2 * t + 1 : t + rotary_dim / 2);
        const double angle =
            positions[std::size_t(i)] * std::pow(theta, -2.0 * double(t) / double(rotary_dim));
        result(i, a) = x(i, a) * std::cos(angle) - x(i, b) * std::sin(angle);
        result(i, b) = x(i, a) * std::sin(angle) + x(i, b) * std::cos(angle);
      }
    }
  }
  return result;
}

TEST(Rotary, IsTheDefinitionAtAnySize) {
  for (Index rows : {0, 1, 63, 64, 65}) {
    for (Index heads : {1, 3}) {
      for (Index rotary_dim : {2, 16, 30, 36}) {
        for (Pairing pairing : {half_split, interleaved}) {
          const Rotary rotary({.head_dim = 36, .rotary_dim = rotary_dim, .theta = 500, .pairing = pairing});
          const auto x = random(rows, heads * 36, 1);
          const auto expected = rotated(x, heads, rotary_dim, 500, pairing, consecutive(rows, 5));
          EXPECT_TRUE(near(rotate(x, rotary, heads, 5), expected, 1e-13))
              << rows << " rows, " << heads << " heads";
        }
      }
    }
  }
}

TEST(Rotary, HasTheRowsOfTheSpecification) {
  const auto x = row({1, 2, 3, 4});
  const std::array<Position, 1> at{3};
  EXPECT_TRUE(near(rotate(x, Rotary({.head_dim = 4, .pairing = interleaved}), 1, at),
                   row({-1.272232512720, -1.838864985141, 2.878668100437, 4.088186635603}), 1e-12));
  EXPECT_TRUE(near(rotate(x, Rotary({.head_dim = 4, .pairing = half_split}), 1, at),
                   row({-1.413352520780, 1.879118066688, -2.828857481741, 4.058191135401}), 1e-12));
}

double score(const Rotary& rotary, const Matrix<double>& query, Position m, const Matrix<double>& key,
             Position n) {
  const std::array<Position, 1> at_m{m}, at_n{n};
  return rotate(query, rotary, 1, at_m).row(0).dot(rotate(key, rotary, 1, at_n).row(0));
}

TEST(Rotary, ScoresDependOnTheDistanceOnly) {
  const auto q = row({1, 2, 3, 4}), k = row({.5, -1, 2, .25});
  const Rotary side_by_side({.head_dim = 4, .pairing = interleaved}),
      halves({.head_dim = 4, .pairing = half_split});
  for (Position shift : {0, 100}) {
    EXPECT_NEAR(score(side_by_side, q, 5 + shift, k, 2 + shift), 7.982131588556, 1e-11);
    EXPECT_NEAR(score(halves, q, 5 + shift, k, 2 + shift), -7.228961506711, 1e-11);
  }
  EXPECT_NEAR(score(side_by_side, q, 2, k, 5), 8.981546373731, 1e-11);
  EXPECT_NEAR(score(halves, q, 2, k, 5), -7.640041016593, 1e-11);
}

/// Angles laid out for one pairing, partners taken from the other. A published mistake: the score then
/// changes when query and key move together.
TEST(Rotary, MixedPairingsAreNotShiftInvariant) {
  const auto mixed = [](const Matrix<double>& x, Position m) {
    const auto w = Rotary({.head_dim = 4}).frequencies().angular;
    Matrix<double> result(1, 4);
    for (Index c = 0; c < 4; ++c) {
      const double angle = double(m) * w[std::size_t(c / 2)];     // w0, w0, w1, w1: interleaved
      const double partner = c < 2 ? -x(0, c + 2) : x(0, c - 2);  // half-split
      result(0, c) = x(0, c) * std::cos(angle) + partner * std::sin(angle);
    }
    return result;
  };
  const auto q = row({1, 2, 3, 4}), k = row({.5, -1, 2, .25});
  EXPECT_NEAR(mixed(q, 5).row(0).dot(mixed(k, 2).row(0)), 1.489579167932, 1e-11);
  EXPECT_NEAR(mixed(q, 105).row(0).dot(mixed(k, 102).row(0)), -5.579920971493, 1e-11);
}

TEST(Rotary, PairingsAreAPermutationOfChannels) {
  const auto x = random(4, 8, 1);
  Matrix<double> permuted(4, 8);
  for (Index t = 0; t < 4; ++t) {
    permuted.col(t) = x.col(2 * t);
    permuted.col(4 + t) = x.col(2 * t + 1);
  }
  const auto side_by_side = rotate(x, Rotary({.head_dim = 8, .pairing = interleaved}), 1, 9);
  const auto halves = rotate(permuted, Rotary({.head_dim = 8, .pairing = half_split}), 1, 9);
  for (Index t = 0; t < 4; ++t) {
    EXPECT_TRUE(near(halves.col(t), side_by_side.col(2 * t), 0));
    EXPECT_TRUE(near(halves.col(4 + t), side_by_side.col(2 * t + 1), 0));
  }
}

TEST(Rotary, KeepsLengthsAndAddsUp) {
  const Rotary rotary({.head_dim = 8});
  const auto x = random(1, 8, 1);
  const auto at = [&](const Matrix<double>& y, Position m) {
    return rotate(y, rotary, 1, std::array<Position, 1>{m});
  };
  EXPECT_TRUE(near(at(x, 0), x, 0));
  EXPECT_NEAR(at(x, 1234).norm(), x.norm(), 1e-13);
  EXPECT_TRUE(near(at(at(x, 3), 8), at(x, 11), 1e-13));
  EXPECT_TRUE(near(at(at(x, 3), -3), x, 1e-14));
}

TEST(Rotary, PassesTheRestOfAHeadUnchanged) {
  const auto x = random(5, 2 * 20, 1);
  const auto got = rotate(x, Rotary({.head_dim = 20, .rotary_dim = 8}), 2, 117);
  for (Index head : {0, 1}) {
    for (Index c = 0; c < 20; ++c) EXPECT_EQ(got(4, head * 20 + c) == x(4, head * 20 + c), c >= 8) << c;
  }
}

TEST(Rotary, OneTableServesQueryAndKeyOfEveryLayer) {
  namespace hw = headwise;
  hw::Rng rng(1);
  const hw::Matrix<float> query = hw::normal(6, 4 * 16, 1.0f, rng), key = hw::normal(6, 2 * 16, 1.0f, rng);
  // [docs position/rotary]
  const hw::position::Rotary rotary({.head_dim = 16, .theta = 500000});
  const auto table = rotary.table<float>(hw::position::consecutive(query.rows()));
  const hw::Matrix<float> q = rotate(query, table, 4);  // 4 query heads
  const hw::Matrix<float> k = rotate(key, table, 2);    // 2 key-value heads; then attend(q, k, value, ...)
  // [docs end]
  EXPECT_TRUE(near(q, rotated(query.cast<double>(), 4, 16, 500000, half_split, consecutive(6)), 1e-5));
  EXPECT_TRUE(near(k, rotated(key.cast<double>(), 2, 16, 500000, half_split, consecutive(6)), 1e-5));
}

TEST(Rotary, TurnsInPlaceAndInsideAWiderMatrix) {
  const Rotary rotary({.head_dim = 6, .rotary_dim = 4});
  const auto table = rotary.table<double>(consecutive(5, 3));
  for (Pairing pairing : {half_split, interleaved}) {
    auto other = table;
    other.pairing = pairing;
    const auto packed = random(5, 30, 1);
    Matrix<double> turned = packed;
    rotate_into(turned.middleCols(12, 12), other, 2, turned.middleCols(12, 12));
    Matrix<double> expected = packed;
    expected.middleCols(12, 12) = rotate(Matrix<double>(packed.middleCols(12, 12)), other, 2);
    EXPECT_TRUE(near(turned, expected, 0));
  }
}

TEST(Rotary, TakesColumnMajorMatricesAndExpressions) {
  const Rotary rotary({.head_dim = 4});
  const auto x = random(5, 8, 1);
  const Eigen::MatrixXd column_major = x;
  EXPECT_TRUE(near(rotate(column_major, rotary, 2), rotate(x, rotary, 2), 0));
  EXPECT_TRUE(near(rotate(2.0 * x, rotary, 2), Matrix<double>(2 * rotate(x, rotary, 2)), 1e-15));
}

TEST(Rotary, GradientIsTheAdjointWithTheSameMagnitude) {
  for (Pairing pairing : {half_split, interleaved}) {
    const Rotary rotary(
        {.head_dim = 8, .rotary_dim = 6, .pairing = pairing, .scaling = YarnScaling{.factor = 4}});
    const auto table = rotary.table<double>(consecutive(7, 100));
    const auto x = random(7, 16, 1), d_output = random(7, 16, 2);
    const auto d_x = rotate_backward(d_output, table, 2);
    EXPECT_NEAR(rotate(x, table, 2).cwiseProduct(d_output).sum(), x.cwiseProduct(d_x).sum(), 1e-12);
    for (Index i : {0, 6}) {
      for (Index c = 0; c < 16; ++c) {  // linear: a step of 1 is the exact slope
        Matrix<double> moved = x;
        moved(i, c) += 1;
        const double slope = (rotate(moved, table, 2) - rotate(x, table, 2)).cwiseProduct(d_output).sum();
        EXPECT_NEAR(slope, d_x(i, c), 1e-12);
      }
    }
  }
}

TEST(Rotary, SharedPaddingShiftsNoScoreAndPaddingOfOneRowIsServedByPositions) {
  const Rotary rotary({.head_dim = 8});
  const auto q = random(3, 8, 1), k = random(3, 8, 2);
  const auto scores = [&](std::span<const Position> q_at, std::span<const Position> k_at) {
    return Matrix<double>(rotate(q, rotary, 1, q_at).lazyProduct(rotate(k, rotary, 1, k_at).transpose()));
  };
  const auto plain = consecutive(3), padded = consecutive(3, 2);
  EXPECT_TRUE(near(scores(padded, padded), scores(plain, plain), 1e-13));
  EXPECT_FALSE(near(scores(padded, plain), scores(plain, plain), 0.01));
}

TEST(Rotary, ComplexStepsPassThrough) {
  const Rotary rotary({.head_dim = 4});
  const auto table = rotary.table<double>(consecutive(2, 7));
  const auto real = random(2, 4, 1), imaginary = random(2, 4, 2);
  Matrix<std::complex<double>> x(2, 4);
  x.real() = real;
  x.imag() = imaginary;
  const auto got = rotate(x, table, 1);
  EXPECT_TRUE(near(Matrix<double>(got.real()), rotate(real, table, 1), 0));
  EXPECT_TRUE(near(Matrix<double>(got.imag()), rotate(imaginary, table, 1), 0));
}

TEST(Rotary, NamesTheSettingThatIsWrong) {
  const auto error = [](const RotaryOptions& options) {
    return thrown<ShapeError>([&] { (void)Rotary(options); });
  };
  EXPECT_EQ(error({.head_dim = 0}), "Rotary: head_dim is 0, expected a positive number");
  EXPECT_EQ(error({.head_dim = 5}),
            "Rotary: rotary_dim is 5, expected a multiple of 2 (channels turn in pairs)");
  EXPECT_EQ(
      error({.head_dim = 8, .rotary_dim = 10}),
      "Rotary: rotary_dim is 10, expected at most 8 (head_dim); channels of a head turn, not of the model");
  EXPECT_THROW((void)Rotary({.rotary_dim = -2}), ShapeError);
  EXPECT_EQ(error({.theta = 1}), "Rotary: theta is 1, expected a finite number above 1");
  EXPECT_THROW((void)Rotary({.theta = std::numeric_limits<double>::quiet_NaN()}), ShapeError);
}

TEST(Rotary, NamesTheInputThatDoesNotFit) {
  const Rotary rotary({.head_dim = 4});
  const auto table = rotary.table<double>(consecutive(3));
  EXPECT_EQ(thrown<ShapeError>([&] { (void)rotate(random(3, 9, 1), table, 2); }),
            "rotate: columns of x is 9, expected 8; 2 heads of 4");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)rotate(random(2, 8, 1), table, 2); }),
            "rotate: rows of x is 2, expected 3; the table has one row for each position");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)rotate(random(3, 8, 1), table, 0); }),
            "rotate: heads is 0, expected a positive number");
  EXPECT_THROW((void)rotate_backward(random(2, 8, 1), table, 2), ShapeError);
  Matrix<double> out(3, 4);
  EXPECT_EQ(thrown<ShapeError>([&] { rotate_into(random(3, 8, 1), table, 2, out); }),
            "rotate_into: columns of out is 4, expected 8");
}

}  // namespace
}  // namespace headwise::position::rotary_test
