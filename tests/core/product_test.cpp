#include <headwise/core/product.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/reference.hpp"

#include <limits>
#include <string>

namespace headwise::product_test {
namespace {

using check::near;
using check::random;

/// n additions of products near 1 in size err by at most about n eps.
double tolerance(Index inner) { return 4e-16 * double(inner + 1); }

TEST(Multiply, IsTheSumOfProductsAtAwkwardSizes) {
  for (Index inner : {0, 1, 63, 64, 65}) {
    const Matrix<double> a = random(7, inner, 1), b = random(inner, 5, 2);
    EXPECT_TRUE(near(multiply(a, b), reference::product(a, b), 4 * tolerance(inner)))
        << "inner size " << inner;
  }
  for (Index rows : {1, 63, 65}) {
    for (Index cols : {1, 64}) {
      const Matrix<double> a = random(rows, 9, 3), b = random(9, cols, 4);
      EXPECT_TRUE(near(multiply(a, b), reference::product(a, b), 4 * tolerance(9))) << rows << " x " << cols;
    }
  }
}

TEST(Multiply, KeepsEmptyShapes) {
  EXPECT_EQ(multiply(Matrix<double>(0, 3), random(3, 4, 1)).rows(), 0);
  EXPECT_EQ(multiply(Matrix<double>(0, 3), random(3, 4, 1)).cols(), 4);
  EXPECT_EQ(multiply(random(2, 3, 1), Matrix<double>(3, 0)).cols(), 0);
  EXPECT_EQ(multiply(Matrix<double>(2, 0), Matrix<double>(0, 4)), (Matrix<double>::Zero(2, 4)))
      << "a sum over nothing is zero";
}

TEST(Multiply, ReadsBlocksMapsAndTransposedMatrices) {
  Matrix<double> storage = Matrix<double>::Constant(12, 20, std::numeric_limits<double>::quiet_NaN());
  storage.block(2, 3, 6, 8) = random(6, 8, 5);
  const Matrix<double> a = storage.block(2, 3, 6, 8), b = random(8, 5, 6);
  const Matrix<double> expected = reference::product(a, b);
  const double allowed = 4 * tolerance(8);

  EXPECT_TRUE(near(multiply(storage.block(2, 3, 6, 8), b), expected, allowed))
      << "NaN around the block is not read";

  const Eigen::MatrixXd column_major = a;
  EXPECT_TRUE(near(multiply(column_major, b), expected, allowed));

  const Matrix<double> a_transposed = a.transpose(), b_transposed = b.transpose();
  EXPECT_TRUE(near(multiply(a_transposed.transpose(), b_transposed.transpose()), expected, allowed));

  const Eigen::Map<const Matrix<double>> map(a.data(), 6, 8);
  EXPECT_TRUE(near(multiply(map, b), expected, allowed));

  Matrix<double> strided(6, 24);
  strided.setConstant(std::numeric_limits<double>::quiet_NaN());
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 8; ++j) strided(i, 3 * j) = a(i, j);
  using EveryThird = Eigen::Map<const Matrix<double>, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;
  EXPECT_TRUE(near(multiply(EveryThird(strided.data(), 6, 8, {24, 3}), b), expected, allowed));
}

TEST(Multiply, ReadsRefsVectorsAndFixedSizes) {
  const Matrix<double> a = random(6, 8, 5);
  const Eigen::VectorXd v = random(8, 1, 6);
  const Eigen::RowVectorXd row = random(1, 6, 7);
  EXPECT_TRUE(near(multiply(a, v), reference::product(a, v), 4 * tolerance(8)));
  EXPECT_TRUE(near(multiply(row, a), reference::product(row, a), 4 * tolerance(6)));

  const ConstMatrixRef<double> ref = a;
  EXPECT_TRUE(near(multiply(ref, v), reference::product(a, v), 4 * tolerance(8)));

  Eigen::Matrix2d turn;
  turn << 0, -1, 1, 0;
  const Eigen::Matrix<double, 2, 3> points{{1, 2, 3}, {4, 5, 6}};
  EXPECT_EQ(multiply(turn, points), (Eigen::Matrix<double, 2, 3>{{-4, -5, -6}, {1, 2, 3}}));
}

TEST(Multiply, EvaluatesExpressions) {
  const Matrix<double> a = random(4, 3, 8), b = random(4, 3, 9), c = random(3, 5, 10);
  const Matrix<double> sum = a + b;
  EXPECT_TRUE(near(multiply(a + b, 2.0 * c), 2.0 * reference::product(sum, c), 16 * tolerance(3)));
}

TEST(Multiply, ReadsParametersAsTheirMatrices) {
  const Matrix<double> a = random(4, 3, 11), b = random(3, 5, 12);
  const Parameter<double> left{a}, right{b};
  const Matrix<double> expected = multiply(a, b);
  EXPECT_EQ(multiply(left, b), expected);
  EXPECT_EQ(multiply(a, right), expected);
  EXPECT_EQ(multiply(left, right), expected);
}

TEST(MultiplyTransposed, PairsTheRowsOfBothFactors) {
  for (Index inner : {0, 1, 63, 64, 65}) {
    const Matrix<double> a = random(7, inner, 1), b = random(5, inner, 2);
    Matrix<double> expected = Matrix<double>::Zero(7, 5);
    for (Index i = 0; i < 7; ++i)
      for (Index j = 0; j < 5; ++j)
        for (Index k = 0; k < inner; ++k) expected(i, j) += a(i, k) * b(j, k);
    EXPECT_TRUE(near(multiply_transposed(a, b), expected, 4 * tolerance(inner))) << "inner size " << inner;
  }
}

TEST(MultiplyTransposed, ReadsViewsAndParameters) {
  const Matrix<double> a = random(6, 8, 3), b = random(5, 8, 4);
  const Matrix<double> expected = multiply_transposed(a, b), wide = random(6, 10, 5);
  const Eigen::MatrixXd column_major = b;
  EXPECT_TRUE(near(multiply_transposed(a, column_major), expected, 4 * tolerance(8)));
  EXPECT_EQ(multiply_transposed(Parameter<double>{a}, Parameter<double>{b}), expected);
  EXPECT_TRUE(near(multiply_transposed(wide.rightCols(8), b),
                   reference::product(wide.rightCols(8), b.transpose()), 4 * tolerance(8)));
}

TEST(MultiplyTransposedLeft, SumsOverTheRowsOfBothFactors) {
  for (Index inner : {0, 1, 63, 64, 65, 300}) {
    const Matrix<double> a = random(inner, 7, 1), b = random(inner, 5, 2);
    Matrix<double> expected = Matrix<double>::Zero(7, 5);
    for (Index i = 0; i < 7; ++i)
      for (Index j = 0; j < 5; ++j)
        for (Index k = 0; k < inner; ++k) expected(i, j) += a(k, i) * b(k, j);
    EXPECT_TRUE(near(multiply_transposed_left(a, b), expected, 4 * tolerance(inner)))
        << "inner size " << inner;
  }
}

TEST(MultiplyTransposedLeft, ReadsViewsAndParameters) {
  const Matrix<double> a = random(8, 6, 3), b = random(8, 5, 4), wide = random(8, 10, 5);
  const Matrix<double> expected = multiply_transposed_left(a, b);
  const Eigen::MatrixXd column_major = a;
  EXPECT_TRUE(near(multiply_transposed_left(column_major, b), expected, 4 * tolerance(8)));
  EXPECT_EQ(multiply_transposed_left(Parameter<double>{a}, Parameter<double>{b}), expected);
  EXPECT_TRUE(near(multiply_transposed_left(wide.rightCols(6), b),
                   reference::product(wide.rightCols(6).transpose(), b), 4 * tolerance(8)));
}

template <class F>
std::string message_of(F&& f) {
  try {
    f();
    return "accepted";
  } catch (const ShapeError& error) {
    return error.what();
  }
}

TEST(Multiply, NamesTheFactorThatDoesNotFit) {
  EXPECT_EQ(message_of([] { (void)multiply(random(2, 3, 1), random(4, 5, 2)); }),
            "multiply: rows of the right factor is 4, expected 3");
  EXPECT_EQ(message_of([] { (void)multiply_transposed(random(2, 3, 1), random(5, 4, 2)); }),
            "multiply_transposed: columns of the right factor is 4, expected 3");
  EXPECT_EQ(message_of([] { (void)multiply_transposed_left(random(3, 2, 1), random(4, 5, 2)); }),
            "multiply_transposed_left: rows of the right factor is 4, expected 3");
}

TEST(Multiply, RefusesIntegersAndOtherThings) {
  static_assert(Computable<Matrix<float>>);
  static_assert(Computable<Parameter<double>>);
  static_assert(!Computable<Eigen::MatrixXi>);
  static_assert(!Computable<std::string>);
  SUCCEED();
}

}  // namespace
}  // namespace headwise::product_test
