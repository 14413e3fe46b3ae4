#include <headwise/position/sinusoidal.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/thrown.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace headwise::position::sinusoidal_test {
namespace {

using check::near;
using check::random;
using check::thrown;

constexpr auto interleaved = SinusoidLayout::interleaved, concatenated = SinusoidLayout::concatenated;
constexpr auto paper = SinusoidGrid::paper, tensor2tensor = SinusoidGrid::tensor2tensor;

Matrix<double> row_of(const Sinusoidal& encoding, Position position) {
  return encoding.table<double>(std::vector<Position>{position});
}

Matrix<double> row(std::initializer_list<double> values) {
  Matrix<double> result(1, Index(values.size()));
  std::copy(values.begin(), values.end(), result.data());
  return result;
}

TEST(Sinusoidal, IsTheFormulaOfThePaper) {
  for (Index length : {0, 1, 63, 64, 65}) {
    for (Index width : {1, 2, 7, 16}) {
      const Sinusoidal encoding({.d_model = width});
      const auto x = random(length, width, 1);
      const auto got = encoding(x);
      Matrix<double> expected = x;
      for (Index p = 0; p < length; ++p) {
        for (Index c = 0; c < width; ++c) {
          const double angle = double(p) / std::pow(10000.0, double(c / 2 * 2) / double(width));
          expected(p, c) += c % 2 == 0 ? std::sin(angle) : std::cos(angle);
        }
      }
      EXPECT_TRUE(near(got, expected, 1e-13)) << length << " x " << width;
    }
  }
}

TEST(Sinusoidal, HasTheRowsOfTheSpecification) {
  const Sinusoidal encoding({.d_model = 4});
  EXPECT_TRUE(near(row_of(encoding, 0), row({0, 1, 0, 1}), 0));
  EXPECT_TRUE(near(row_of(encoding, 1), row({0.841470984808, 0.540302305868, 0.009999833334, 0.999950000417}),
                   1e-12));
  EXPECT_TRUE(near(row_of(encoding, 7), row({0.656986598719, 0.753902254343, 0.069942847338, 0.997551000253}),
                   1e-12));
}

TEST(Sinusoidal, HasTheRowsOfTensor2Tensor) {
  const Sinusoidal encoding({.d_model = 4, .layout = concatenated, .grid = tensor2tensor});
  EXPECT_TRUE(near(row_of(encoding, 1),
                   row({8.414709848079e-01, 9.999999983333e-05, 5.403023058681e-01, 9.999999950000e-01}),
                   1e-12));
}

TEST(Sinusoidal, GridsDifferInTheirFrequencies) {
  const auto frequencies = [](SinusoidGrid grid) {
    const auto values = Sinusoidal({.d_model = 6, .grid = grid}).frequencies();
    return row({values[0], values[1], values[2]});
  };
  EXPECT_TRUE(near(frequencies(paper), row({1, 0.046415888336, 0.002154434690}), 1e-12));
  EXPECT_TRUE(near(frequencies(tensor2tensor), row({1, 0.01, 0.0001}), 1e-15));
}

/// Channels counted from 1 would put cos(w_0) first; dividing by base^(2c / d) would give each channel its
/// own frequency. Both are published mistakes.
TEST(Sinusoidal, IsNotOneOfTheKnownMistakes) {
  const auto got = row_of(Sinusoidal({.d_model = 4}), 1);
  EXPECT_FALSE(near(got, row({std::cos(1), std::sin(0.01), std::cos(0.01), std::sin(0.0001)}), 0.1));
  EXPECT_FALSE(near(got, row({std::sin(1), std::cos(0.01), std::sin(0.0001), std::cos(1e-6)}), 0.1));
}

TEST(Sinusoidal, DotProductDependsOnTheDistanceOnly) {
  for (auto layout : {interleaved, concatenated}) {
    const Sinusoidal encoding({.d_model = 8, .layout = layout});
    const auto table = encoding.table<double>(std::vector<Position>{0, 3, 50, 53, 1000, 997});
    for (Index pair : {0, 2, 4}) EXPECT_NEAR(table.row(pair).dot(table.row(pair + 1)), 1.964889526278, 1e-12);
    for (Index i = 0; i < 6; ++i) EXPECT_NEAR(table.row(i).squaredNorm(), 4, 1e-12);
  }
}

TEST(Sinusoidal, AStepIsARotationOfEachPair) {
  const Sinusoidal encoding({.d_model = 6});
  const Position step = 5;
  for (Position p : {0, 1, 40}) {
    const auto here = row_of(encoding, p), there = row_of(encoding, p + step);
    for (Index t = 0; t < 3; ++t) {
      const double angle = double(step) * encoding.frequencies()[std::size_t(t)];
      const double sine = here(0, 2 * t), cosine = here(0, 2 * t + 1);
      EXPECT_NEAR(there(0, 2 * t), sine * std::cos(angle) + cosine * std::sin(angle), 1e-13);
      EXPECT_NEAR(there(0, 2 * t + 1), cosine * std::cos(angle) - sine * std::sin(angle), 1e-13);
    }
  }
}

TEST(Sinusoidal, LayoutsAreAPermutationOfChannels) {
  for (auto grid : {paper, tensor2tensor}) {
    const auto a = row_of(Sinusoidal({.d_model = 8, .layout = interleaved, .grid = grid}), 11);
    const auto b = row_of(Sinusoidal({.d_model = 8, .layout = concatenated, .grid = grid}), 11);
    for (Index t = 0; t < 4; ++t) {
      EXPECT_EQ(a(0, 2 * t), b(0, t));
      EXPECT_EQ(a(0, 2 * t + 1), b(0, 4 + t));
    }
  }
}

TEST(Sinusoidal, AnOddWidthEndsInASineOrInAZero) {
  const auto a = row_of(Sinusoidal({.d_model = 5}), 3);
  EXPECT_NEAR(a(0, 4), std::sin(3 / std::pow(10000.0, 4.0 / 5)), 1e-15);
  const auto b = row_of(Sinusoidal({.d_model = 5, .layout = concatenated}), 3);
  EXPECT_TRUE(near(b, row({a(0, 0), a(0, 2), a(0, 4), a(0, 1), a(0, 3)}), 0));
  for (auto layout : {interleaved, concatenated}) {
    const auto c = row_of(Sinusoidal({.d_model = 5, .layout = layout, .grid = tensor2tensor}), 3);
    const auto even = row_of(Sinusoidal({.d_model = 4, .layout = layout, .grid = tensor2tensor}), 3);
    EXPECT_TRUE(near(c.leftCols(4), even, 0));
    EXPECT_EQ(c(0, 4), 0);
  }
}

TEST(Sinusoidal, TheLongestWavelengthIsTheBaseOnTheGridOfTensor2TensorOnly) {
  EXPECT_DOUBLE_EQ(Sinusoidal({.d_model = 512, .grid = tensor2tensor}).frequencies().back(), 1e-4);
  EXPECT_DOUBLE_EQ(Sinusoidal({.d_model = 512}).frequencies().back(), std::pow(10000.0, -510.0 / 512));
  EXPECT_DOUBLE_EQ(Sinusoidal({.d_model = 64, .grid = tensor2tensor, .base = 500}).frequencies().back(),
                   1.0 / 500);
}

TEST(Sinusoidal, StartShiftsEveryPosition) {
  const auto shifted = row_of(Sinusoidal({.d_model = 8, .start = 3}), 4),
             plain = row_of(Sinusoidal({.d_model = 8}), 7);
  EXPECT_TRUE(near(shifted, plain, 0));
}

TEST(Sinusoidal, NegativePositionsTurnTheOtherWay) {
  const Sinusoidal encoding({.d_model = 4, .layout = concatenated});
  const auto ahead = row_of(encoding, 9), behind = row_of(encoding, -9);
  EXPECT_TRUE(near(behind.leftCols(2), Matrix<double>(-ahead.leftCols(2)), 0));
  EXPECT_TRUE(near(behind.rightCols(2), ahead.rightCols(2), 0));
}

TEST(Sinusoidal, ATokenAfterACacheHasItsOwnPosition) {
  const Sinusoidal encoding({.d_model = 16});
  const auto x = random(10, 16, 1);
  const auto whole = encoding(x);
  EXPECT_TRUE(near(encoding(x.bottomRows(3), 7), Matrix<double>(whole.bottomRows(3)), 0));
  EXPECT_FALSE(near(encoding(x.bottomRows(3)), Matrix<double>(whole.bottomRows(3)), 0.1));
}

/// Padding in front must not move the text: positions count real tokens, not columns.
TEST(Sinusoidal, PaddingInFrontIsServedByExplicitPositions) {
  const Sinusoidal encoding({.d_model = 8});
  const auto text = random(3, 8, 1);
  Matrix<double> padded(5, 8);
  padded << random(2, 8, 2), text;
  const auto got = encoding(padded, std::vector<Position>{0, 0, 0, 1, 2});
  EXPECT_TRUE(near(Matrix<double>(got.bottomRows(3)), encoding(text), 0));
}

TEST(Sinusoidal, FloatIsRoundedFromDouble) {
  const Sinusoidal encoding({.d_model = 32});
  const std::vector<Position> far{16'777'217, 2'000'000'011};
  const auto single = encoding.table<float>(far);
  const auto exact = encoding.table<double>(far);
  EXPECT_TRUE(near(single, exact, 1e-7));
}

TEST(Sinusoidal, AddsToFloatInput) {
  namespace hw = headwise;
  hw::Rng rng(1);
  const hw::Matrix<float> x = hw::normal(6, 8, 1.0f, rng);
  // [docs position/sinusoidal]
  const hw::position::Sinusoidal encoding({.d_model = 8});
  const hw::Matrix<float> y = encoding(x);                                       // positions 0, 1, 2, ...
  const hw::Matrix<float> after_a_cache = encoding(x, 100);                      // positions 100, 101, ...
  const hw::Matrix<float> table = encoding.table(hw::position::consecutive(6));  // the signal alone
  // [docs end]
  EXPECT_TRUE(near(y, Matrix<float>(x + table), 0));
  EXPECT_NEAR(after_a_cache(0, 0), double(x(0, 0)) + std::sin(100.0), 1e-6);
}

TEST(Sinusoidal, NamesTheSettingThatIsWrong) {
  EXPECT_EQ(thrown<ShapeError>([] { (void)Sinusoidal({.d_model = 0}); }),
            "Sinusoidal: d_model is 0, expected a positive number");
  EXPECT_EQ(thrown<ShapeError>([] { (void)Sinusoidal({.base = 0}); }),
            "Sinusoidal: base is 0.000000, expected a finite number above 0");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)Sinusoidal({.base = nan}), ShapeError);
  EXPECT_THROW((void)Sinusoidal({.base = std::numeric_limits<double>::infinity()}), ShapeError);
}

TEST(Sinusoidal, NamesTheInputThatDoesNotFit) {
  const Sinusoidal encoding({.d_model = 8});
  EXPECT_EQ(thrown<ShapeError>([&] { (void)encoding(random(3, 7, 1)); }),
            "Sinusoidal: columns of x is 7, expected 8");
  EXPECT_EQ(thrown<ShapeError>([&] {
              (void)encoding(random(3, 8, 1), std::vector<Position>{1, 2});
            }),
            "Sinusoidal: number of positions is 2, expected 3; give one for each row of x");
}

}  // namespace
}  // namespace headwise::position::sinusoidal_test
