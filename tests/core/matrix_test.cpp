#include <headwise/core/matrix.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace headwise {
namespace {

TEST(Matrix, StoresATokenARow) {
  Matrix<float> x(2, 3);
  x << 1, 2, 3, 4, 5, 6;
  EXPECT_EQ(x.data()[1], 2);
  EXPECT_EQ(x.rowStride(), 3);
}

TEST(RealMatrix, IsAnyEigenMatrixOfNumbersWithFractions) {
  static_assert(RealMatrix<Matrix<float>>);
  static_assert(RealMatrix<const Matrix<double>&>);
  static_assert(RealMatrix<Eigen::MatrixXd>);
  static_assert(RealMatrix<Eigen::Matrix<long double, 2, 3>>);
  static_assert(RealMatrix<Eigen::MatrixXcd>);
  static_assert(RealMatrix<MatrixRef<float>>);
  static_assert(RealMatrix<ConstMatrixRef<float>>);
  static_assert(RealMatrix<Eigen::Map<const Eigen::MatrixXf>>);
  static_assert(RealMatrix<decltype(std::declval<Eigen::MatrixXf&>().block(0, 0, 1, 1))>);
  static_assert(RealMatrix<decltype(std::declval<Eigen::MatrixXf&>() * 2.0f)>);

  static_assert(!RealMatrix<Eigen::MatrixXi>);
  static_assert(!RealMatrix<Eigen::Matrix<bool, 2, 2>>);
  static_assert(!RealMatrix<Eigen::ArrayXXf>, "an array multiplies entry by entry");
  static_assert(!RealMatrix<std::vector<float>>);
  static_assert(!RealMatrix<float>);
  SUCCEED();
}

TEST(SameScalar, TellsFloatFromDouble) {
  static_assert(SameScalar<Matrix<float>, Eigen::MatrixXf, Eigen::Map<Matrix<float>>>);
  static_assert(!SameScalar<Matrix<float>, Matrix<float>, Matrix<double>>);
  static_assert(SameScalar<Matrix<float>>);
  SUCCEED();
}

TEST(Sequence, IsWhateverHasRowsAndColumns) {
  static_assert(Sequence<Matrix<float>>);
  static_assert(Sequence<Eigen::ArrayXXd>);
  static_assert(!Sequence<std::vector<float>>);
  SUCCEED();
}

TEST(MatrixRef, SeesABlockOfColumnsWithoutACopy) {
  Matrix<double> x = Matrix<double>::Random(4, 6);
  const ConstMatrixRef<double> head = x.middleCols(2, 3);
  EXPECT_EQ(head.data(), &x(0, 2));
  MatrixRef<double> writable = x.middleCols(2, 3);
  writable(1, 1) = 9;
  EXPECT_EQ(x(1, 3), 9);
}

}  // namespace
}  // namespace headwise
