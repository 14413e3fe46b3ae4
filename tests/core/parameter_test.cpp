#include <headwise/core/parameter.hpp>

#include <gtest/gtest.h>

#include <type_traits>

namespace headwise {
namespace {

TEST(Parameter, HasTheShapeOfItsMatrix) {
  const Parameter<float> parameter{Matrix<float>::Zero(3, 5)};
  EXPECT_EQ(parameter.rows(), 3);
  EXPECT_EQ(parameter.cols(), 5);
  EXPECT_EQ(Parameter<float>{}.rows(), 0);
  static_assert(std::is_same_v<Parameter<float>::Scalar, float>);
}

TEST(Parameter, IsASequenceButNotAMatrix) {
  static_assert(Sequence<Parameter<double>>);
  static_assert(!RealMatrix<Parameter<double>>);
  static_assert(std::is_same_v<scalar_of<const Parameter<double>&>, double>);
  SUCCEED();
}

TEST(ValueOf, RefersToTheNumbersWithoutACopy) {
  const Parameter<double> parameter{Matrix<double>::Random(2, 2)};
  EXPECT_EQ(&value_of(parameter), &parameter.value);

  const Matrix<double> matrix = Matrix<double>::Random(2, 2);
  EXPECT_EQ(&value_of(matrix), &matrix);

  Matrix<double> storage = Matrix<double>::Random(4, 4);
  const auto block = storage.block(1, 1, 2, 2);
  EXPECT_EQ(value_of(block).data(), &storage(1, 1));
}

TEST(Parameter, IsAValue) {
  Parameter<double> original{Matrix<double>::Zero(1, 1)};
  const Parameter<double> copy = original;
  original.value(0, 0) = 1;
  EXPECT_EQ(copy.value(0, 0), 0);
}

}  // namespace
}  // namespace headwise
