#include <headwise/attention/attend_backward.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/reference.hpp"

#include <complex>

namespace headwise {
namespace {

using check::near;
using check::random;
using Complex = std::complex<double>;

TEST(Scalars, LongDoubleComputes) {
  const auto query = random(13, 4, 1), key = random(13, 4, 2), value = random(13, 3, 3);
  const auto output = attend(query.cast<long double>(), key.cast<long double>(), value.cast<long double>());
  EXPECT_TRUE(near(output, reference::attention(query, key, value), 1e-14));
}

TEST(Scalars, AComplexStepDifferentiatesTheKernelItself) {
  const auto query = random(9, 4, 1), key = random(9, 4, 2), value = random(9, 3, 3), d = random(9, 3, 4);
  const auto attended = attend_with_lse(query, key, value);
  const auto gradients = attend_backward(query, key, value, attended, d);
  const double step = 1e-30;
  for (const Index i : {0, 17, 35}) {
    Matrix<Complex> moved = key.cast<Complex>();
    moved.data()[i] += Complex(0, step);
    const Matrix<Complex> output = attend(query.cast<Complex>(), moved, value.cast<Complex>());
    const double slope = (output.imag().array() * d.array()).sum() / step;
    EXPECT_NEAR(gradients.key.data()[i], slope, 1e-13);
  }
}

}  // namespace
}  // namespace headwise
