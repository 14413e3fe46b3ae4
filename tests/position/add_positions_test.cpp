#include <headwise/position/learned.hpp>
#include <headwise/position/sinusoidal.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/thrown.hpp"

#include <string>
#include <utility>

/// A sequence that records what is done to it, in a namespace that the library does not know.
namespace recording {

struct Recorded {
  using Scalar = double;
  std::string done;
  headwise::Index n = 2;
  headwise::Index rows() const { return n; }
  headwise::Index cols() const { return 4; }
};

Recorded add_positions(const Recorded& x, const headwise::Matrix<double>& signal) {
  return {x.done + "signal of " + std::to_string(signal.rows()) + " rows", x.n};
}

Recorded add_positions(const Recorded& x, const headwise::Parameter<double>&,
                       std::span<const headwise::Position> positions) {
  return {x.done + "row " + std::to_string(positions.back()) + " of a table", x.n};
}

}  // namespace recording

namespace headwise::position {
namespace {

using check::near;
using check::random;
using check::thrown;

TEST(AddPositions, EncodingsFindTheOverloadsOfARecordingSequence) {
  const recording::Recorded x;
  EXPECT_EQ(Sinusoidal({.d_model = 4})(x).done, "signal of 2 rows");
  EXPECT_EQ(Learned<double>(random(9, 4, 1))(x, 5).done, "row 6 of a table");
}

TEST(AddPositions, TakesExpressionsAndBlocks) {
  const auto x = random(3, 8, 1), table = random(5, 4, 2);
  const std::vector<Position> positions{4, 0, 4};
  const auto got = add_positions(2.0 * x.middleCols(2, 4), table, positions);
  for (Index i = 0; i < 3; ++i)
    for (Index c = 0; c < 4; ++c) EXPECT_EQ(got(i, c), 2 * x(i, 2 + c) + table(positions[std::size_t(i)], c));
}

TEST(AddPositions, GradientOfTheTableIsASumOverTheRowsThatReadIt) {
  const Matrix<double> d_output = random(4, 3, 1);
  const std::vector<Position> positions{1, 3, 1, 1};

  const auto d_table = add_positions_backward(d_output, positions, 5);

  Matrix<double> expected = Matrix<double>::Zero(5, 3);
  for (Index i = 0; i < 4; ++i)
    for (Index c = 0; c < 3; ++c) expected(positions[std::size_t(i)], c) += d_output(i, c);
  EXPECT_TRUE(near(d_table, expected, 0));
}

/// f(table) = sum(d_output * add_positions(x, table)) is linear: any step gives its exact slope.
TEST(AddPositions, GradientIsTheDifferenceQuotient) {
  const Matrix<double> x = random(4, 3, 1), d_output = random(4, 3, 2);
  const std::vector<Position> positions{2, 0, 2, 1};
  Matrix<double> table = random(4, 3, 3);
  const auto f = [&] { return d_output.cwiseProduct(add_positions(x, table, positions)).sum(); };
  const auto d_table = add_positions_backward(d_output, positions, table.rows());
  for (Index i = 0; i < table.rows(); ++i) {
    for (Index c = 0; c < table.cols(); ++c) {
      const double before = f(), kept = table(i, c);
      table(i, c) += 0.5;
      EXPECT_NEAR((f() - before) / 0.5, d_table(i, c), 1e-13);
      table(i, c) = kept;
    }
  }
}

TEST(AddPositions, NamesTheSizeThatDoesNotFit) {
  const auto x = random(3, 4, 1);
  const std::vector<Position> two{0, 1};
  EXPECT_EQ(thrown<ShapeError>([&] { (void)add_positions(x, random(2, 4, 2)); }),
            "add_positions: rows of the signal is 2, expected 3");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)add_positions(x, random(3, 5, 2)); }),
            "add_positions: columns of the signal is 5, expected 4");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)add_positions(x, random(9, 4, 2), two); }),
            "add_positions: number of positions is 2, expected 3; give one for each row of x");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)add_positions(x.topRows(2), random(9, 5, 2), two); }),
            "add_positions: columns of x is 4, expected 5; the table has this many");
}

}  // namespace
}  // namespace headwise::position
