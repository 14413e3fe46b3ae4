#include <headwise/autograd/chunked.hpp>
#include <headwise/autograd/elementwise.hpp>
#include <headwise/autograd/product.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"

#include <string>
#include <vector>

namespace headwise {
namespace {

using check::near;
using check::random;

TEST(Chunked, IsTheFunctionOfAllRowsForAnyLength) {
  const Parameter<double> up{random(4, 9, 1)}, down{random(9, 3, 2)};
  const auto f = [&](const auto& x) { return multiply(relu(multiply(x, up)), down); };
  for (const Index length : {0, 1, 2, 3, 63, 64, 65}) {
    for (const Index rows : {1, 3, 64, 100}) {
      SCOPED_TRACE(std::to_string(length) + " by " + std::to_string(rows));
      const Matrix<double> x = random(length, 4, 3), d = random(length, 3, 4);
      autograd::Tape<double> whole, parts;
      const auto x_whole = whole.input(x), x_parts = parts.input(x);
      // [docs layer/chunked]
      const auto y = chunked(f, x_parts, rows);  // f sees `rows` rows at a time, also in backward
      // [docs end]
      EXPECT_EQ(parts.size(), 2u);
      EXPECT_TRUE(near(y.value(), f(x), 1e-13));
      EXPECT_TRUE(near(chunked(f, x, rows), f(x), 1e-13));
      const auto got = backward(y, d), expected = backward(f(x_whole), d);
      EXPECT_TRUE(near(got.of(x_parts), expected.of(x_whole), 1e-13));
      if (length == 0) continue;
      EXPECT_TRUE(near(got.of(up), expected.of(up), 1e-12));
      EXPECT_TRUE(near(got.of(down), expected.of(down), 1e-12));
    }
  }
}

TEST(Chunked, TellsWhereAChunkBeginsAndShowsItNoMoreThanItsRows) {
  std::vector<Index> begins;
  Index most = 0;
  const Matrix<double> x = random(10, 2, 1);
  const Matrix<double> y = chunked(
      [&](const Matrix<double>& part, Index first) {
        begins.push_back(first);
        most = std::max(most, part.rows());
        return Matrix<double>(part * double(first + 1));
      },
      x, 4);
  EXPECT_EQ(begins, (std::vector<Index>{0, 4, 8}));
  EXPECT_EQ(most, 4);
  EXPECT_EQ(Matrix<double>(y.row(9)), Matrix<double>(x.row(9) * 9.0));
}

TEST(Chunked, RefusesWhatItCannotServe) {
  const Matrix<double> x = random(4, 2, 1);
  const auto refusal = [&](Index rows, Index fewer) {
    try {
      (void)chunked(
          [&](const Matrix<double>& part) { return Matrix<double>(part.topRows(part.rows() - fewer)); }, x,
          rows);
    } catch (const ShapeError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal(0, 0), "chunked: chunk_rows is 0, expected a positive number");
  EXPECT_EQ(refusal(2, 1), "chunked: rows of f(x) is 1, expected 2; f gives one row for every row");
}

}  // namespace
}  // namespace headwise
