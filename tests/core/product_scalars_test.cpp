#include <headwise/core/product.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/reference.hpp"

#include <complex>

namespace headwise {
namespace {

using check::near;
using check::random;

TEST(Multiply, ComputesInTheScalarOfItsFactors) {
  const Matrix<double> a = random(9, 7, 13), b = random(7, 5, 14);
  const Matrix<double> expected = reference::product(a, b);

  const Matrix<float> left = a.cast<float>(), right = b.cast<float>();
  EXPECT_TRUE(near(multiply(left, right), expected, 8 * 6e-8 * 8));

  using Complex = std::complex<double>;
  const Matrix<Complex> turned_left = Complex(0, 1) * a.cast<Complex>(), as_complex = b.cast<Complex>();
  const Matrix<Complex> turned = multiply(turned_left, as_complex);
  EXPECT_TRUE(near(turned.imag(), expected, 4 * 8 * 4e-16));
  EXPECT_TRUE(near(turned.real(), Matrix<double>::Zero(9, 5), 0));

  const Matrix<Complex> left_as_columns = turned_left.transpose();
  EXPECT_TRUE(near(multiply_transposed_left(left_as_columns, as_complex).imag(), expected, 4 * 8 * 4e-16))
      << "transposed, not conjugated";
}

}  // namespace
}  // namespace headwise
