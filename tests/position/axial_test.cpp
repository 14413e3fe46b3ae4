#include <headwise/autograd/axial.hpp>
#include <headwise/position/axial.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"

#include <functional>
#include <string>
#include <vector>

namespace headwise::position {
namespace {

using check::near;
using check::random;

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Axial, AddsARowsVectorBesideAColumns) {
  namespace hw = headwise;
  hw::Rng rng(1);
  const auto x = hw::normal(12, 5, 1.0, rng);
  // [docs position/axial]
  const hw::position::Axial<double> positions({.rows = 3, .columns = 4, .row_width = 2, .column_width = 3},
                                              rng);
  const hw::Matrix<double> y = positions(x);  // 12 positions of 5 numbers from 18 learned ones
  // [docs end]
  std::vector<Matrix<double>> tables;
  positions.for_each_parameter([&](auto, const auto& parameter) { tables.push_back(parameter.value); });
  for (Index p = 0; p < 12; ++p) {
    for (Index c = 0; c < 2; ++c) EXPECT_EQ(y(p, c), x(p, c) + tables[0](p / 4, c));
    for (Index c = 0; c < 3; ++c) EXPECT_EQ(y(p, 2 + c), x(p, 2 + c) + tables[1](p % 4, c));
  }
}

TEST(Axial, TablesLearnFromTheirRows) {
  const Parameter<double> rows{random(2, 2, 1)}, columns{random(3, 1, 2)};
  const Matrix<double> d = random(4, 3, 3);
  const std::vector<Position> at{0, 4, 5, 1};
  autograd::Tape<double> tape;
  const auto x = tape.input(random(4, 3, 4));
  const auto y = add_axial_positions(x, rows, columns, std::span<const Position>(at));
  EXPECT_EQ(y.value(), add_axial_positions(x.value(), rows, columns, std::span<const Position>(at)));
  const auto got = backward(y, d);
  Matrix<double> d_rows = Matrix<double>::Zero(2, 2), d_columns = Matrix<double>::Zero(3, 1);
  for (Index i = 0; i < 4; ++i) {
    d_rows.row(at[std::size_t(i)] / 3) += d.row(i).leftCols(2);
    d_columns.row(at[std::size_t(i)] % 3) += d.row(i).rightCols(1);
  }
  EXPECT_EQ(got.of(x), d);
  EXPECT_TRUE(near(got.of(rows), d_rows, 1e-15));
  EXPECT_TRUE(near(got.of(columns), d_columns, 1e-15));
}

TEST(Axial, RefusesPositionsBesideTheGrid) {
  const Axial<double> positions(random(2, 2, 1), random(3, 1, 2));
  EXPECT_EQ(positions.positions(), 6);
  EXPECT_EQ(refusal([&] { (void)positions(random(7, 3, 1)); }),
            "add_axial_positions: positions[6] is 6, expected 0 to 5; the grid ends there");
  EXPECT_EQ(refusal([&] { (void)positions(random(2, 4, 1)); }),
            "add_axial_positions: columns of x is 4, expected 3; the widths of both tables together");
  Rng rng(1);
  EXPECT_EQ(refusal([&] { (void)Axial<double>({.rows = 0}, rng); }),
            "Axial: rows is 0, expected a positive number");
}

}  // namespace
}  // namespace headwise::position
