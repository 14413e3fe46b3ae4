#include <headwise/core/math.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

namespace headwise::math {
namespace {

constexpr double float_error = 2e-7, double_error = 6e-16;

/// The scalar with more bits, whose library functions are the truth.
template <class Scalar>
using Wide = std::conditional_t<std::is_same_v<Scalar, float>, double, long double>;

/// The largest relative error of f against `truth` at 40001 points of [low, high], both ends included.
template <class Scalar>
double worst_error(Scalar (*f)(Scalar), Wide<Scalar> (*truth)(Wide<Scalar>), double low, double high) {
  constexpr int steps = 40000;
  double worst = 0;
  for (int i = 0; i <= steps; ++i) {
    const Scalar x = Scalar(low + (high - low) * i / steps);
    const Wide<Scalar> expected = truth(Wide<Scalar>(x));
    const Wide<Scalar> got = Wide<Scalar>(f(x));
    if (got == expected) continue;
    const double error = double(std::abs((got - expected) / expected));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

double worst_error_float(float (*f)(float), double (*truth)(double), double low, double high) {
  return worst_error<float>(f, truth, low, high);
}
double worst_error_double(double (*f)(double), long double (*truth)(long double), double low, double high) {
  return worst_error<double>(f, truth, low, high);
}

TEST(Math, ExpIsAccurateOverItsWholeRange) {
  EXPECT_LT(worst_error_float(exp<float>, std::exp, -86.9, 88.7), float_error);
  EXPECT_LT(worst_error_float(exp<float>, std::exp, -1, 1), float_error);
  EXPECT_LT(worst_error_double(exp<double>, std::exp, -707.9, 709.7), double_error);
  EXPECT_LT(worst_error_double(exp<double>, std::exp, -1, 1), double_error);
}

TEST(Math, LogIsAccurateNearOneFarFromItAndForDenormals) {
  EXPECT_LT(worst_error_float(log<float>, std::log, 1e-6, 3), float_error);
  EXPECT_LT(worst_error_float(log<float>, std::log, 0.999, 1.001), float_error);
  EXPECT_LT(worst_error_float(log<float>, std::log, 1, 3e38), float_error);
  EXPECT_LT(worst_error_float(log<float>, std::log, 1e-44, 1e-37), float_error);
  EXPECT_LT(worst_error_double(log<double>, std::log, 1e-6, 3), double_error);
  EXPECT_LT(worst_error_double(log<double>, std::log, 0.999, 1.001), double_error);
  EXPECT_LT(worst_error_double(log<double>, std::log, 1, 1e308), double_error);
  EXPECT_LT(worst_error_double(log<double>, std::log, 1e-323, 1e-307), double_error);
}

TEST(Math, TanhIsAccurateOnBothSidesOfItsSeam) {
  EXPECT_LT(worst_error_float(tanh<float>, std::tanh, -12, 12), float_error);
  EXPECT_LT(worst_error_float(tanh<float>, std::tanh, -0.6, 0.6), float_error);
  EXPECT_LT(worst_error_float(tanh<float>, std::tanh, 0, 1e-6), float_error);
  EXPECT_LT(worst_error_double(tanh<double>, std::tanh, -22, 22), double_error);
  EXPECT_LT(worst_error_double(tanh<double>, std::tanh, -0.6, 0.6), double_error);
  EXPECT_LT(worst_error_double(tanh<double>, std::tanh, 0, 1e-6), double_error);
}

TEST(Math, ErfIsAccurateOnBothSidesOfItsSeam) {
  EXPECT_LT(worst_error_float(erf<float>, std::erf, -6, 6), float_error);
  EXPECT_LT(worst_error_float(erf<float>, std::erf, -1.1, 1.1), float_error);
  EXPECT_LT(worst_error_float(erf<float>, std::erf, 0, 1e-6), float_error);
  EXPECT_LT(worst_error_double(erf<double>, std::erf, -8, 8), double_error);
  EXPECT_LT(worst_error_double(erf<double>, std::erf, -1.1, 1.1), double_error);
  EXPECT_LT(worst_error_double(erf<double>, std::erf, 0, 1e-6), double_error);
}

template <class Scalar>
class MathLimits : public testing::Test {
 public:
  static constexpr Scalar inf = std::numeric_limits<Scalar>::infinity();
  static constexpr Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
  static constexpr Scalar largest = std::numeric_limits<Scalar>::max();
};
using LaneScalars = testing::Types<float, double>;
TYPED_TEST_SUITE(MathLimits, LaneScalars);

TYPED_TEST(MathLimits, NanStaysNan) {
  for (TypeParam x : {this->nan, -this->nan}) {
    EXPECT_TRUE(std::isnan(exp(x)));
    EXPECT_TRUE(std::isnan(log(x)));
    EXPECT_TRUE(std::isnan(tanh(x)));
    EXPECT_TRUE(std::isnan(erf(x)));
  }
}

TYPED_TEST(MathLimits, InfinitiesHaveTheirLimits) {
  EXPECT_EQ(exp(this->inf), this->inf);
  EXPECT_EQ(exp(-this->inf), TypeParam(0));
  EXPECT_EQ(log(this->inf), this->inf);
  EXPECT_EQ(tanh(this->inf), TypeParam(1));
  EXPECT_EQ(tanh(-this->inf), TypeParam(-1));
  EXPECT_EQ(erf(this->inf), TypeParam(1));
  EXPECT_EQ(erf(-this->inf), TypeParam(-1));
}

TYPED_TEST(MathLimits, LargestNumbersNeitherOverflowIntoNanNorLoseTheirSign) {
  EXPECT_EQ(exp(this->largest), this->inf);
  EXPECT_EQ(exp(-this->largest), TypeParam(0));
  EXPECT_EQ(tanh(-this->largest), TypeParam(-1));
  EXPECT_EQ(erf(-this->largest), TypeParam(-1));
}

TYPED_TEST(MathLimits, ExpOfZeroIsExactlyOneAndLogOfOneExactlyZero) {
  EXPECT_EQ(exp(TypeParam(0)), TypeParam(1));
  EXPECT_EQ(exp(TypeParam(-0.0)), TypeParam(1));
  EXPECT_EQ(log(TypeParam(1)), TypeParam(0));
}

TYPED_TEST(MathLimits, ExpIsNeverDenormal) {
  const TypeParam smallest = std::numeric_limits<TypeParam>::min();
  const TypeParam edge = std::log(smallest);
  int zeros = 0;
  for (int i = -2000; i <= 2000; ++i) {
    const TypeParam y = exp(edge + TypeParam(i) / TypeParam(1000));
    EXPECT_TRUE(y == 0 || y >= smallest) << i;
    zeros += y == 0;
  }
  EXPECT_GT(zeros, 2000);
  EXPECT_LT(zeros, 2400);  // nothing above twice the smallest normal number is lost
}

TYPED_TEST(MathLimits, OddFunctionsKeepTheSignOfZero) {
  EXPECT_TRUE(std::signbit(tanh(TypeParam(-0.0))));
  EXPECT_FALSE(std::signbit(tanh(TypeParam(0))));
  EXPECT_TRUE(std::signbit(erf(TypeParam(-0.0))));
  EXPECT_FALSE(std::signbit(erf(TypeParam(0))));
}

TYPED_TEST(MathLimits, LogIsMinusInfinityAtZeroAndNanBelow) {
  EXPECT_EQ(log(TypeParam(0)), -this->inf);
  EXPECT_EQ(log(TypeParam(-0.0)), -this->inf);
  EXPECT_TRUE(std::isnan(log(TypeParam(-1))));
  EXPECT_TRUE(std::isnan(log(-this->inf)));
  EXPECT_TRUE(std::isnan(log(-std::numeric_limits<TypeParam>::denorm_min())));
}

/// Calls through a volatile pointer cannot be inlined: one number at a time, whatever surrounds it.
template <class Scalar>
Scalar alone(Scalar (*f)(Scalar), Scalar x) {
  Scalar (*volatile call)(Scalar) = f;
  return call(x);
}

template <class Scalar, class F>
std::array<Scalar, 48> in_lanes(F f, const std::array<Scalar, 48>& x) {
  std::array<Scalar, 48> y = x;
  for (std::size_t i = 0; i < 48; ++i) y[i] = f(y[i]);
  return y;
}

TYPED_TEST(MathLimits, ALaneGetsTheBitsOfACallAlone) {
  std::array<TypeParam, 48> x;
  for (std::size_t i = 0; i < 48; ++i) x[i] = TypeParam(0.37) * TypeParam(i) - TypeParam(5);
  const auto e = in_lanes([](TypeParam s) { return exp(s); }, x);
  const auto l = in_lanes([](TypeParam s) { return log(s); }, x);
  const auto t = in_lanes([](TypeParam s) { return tanh(s); }, x);
  const auto r = in_lanes([](TypeParam s) { return erf(s); }, x);
  for (std::size_t i = 0; i < 48; ++i) {
    EXPECT_EQ(e[i], alone(exp<TypeParam>, x[i]));
    EXPECT_EQ(t[i], alone(tanh<TypeParam>, x[i]));
    EXPECT_EQ(r[i], alone(erf<TypeParam>, x[i]));
    if (x[i] > 0) {
      EXPECT_EQ(l[i], alone(log<TypeParam>, x[i]));
    }
  }
}

TYPED_TEST(MathLimits, SelectTakesTheChosenBitsAndNothingFromTheOther) {
  EXPECT_EQ(select(true, TypeParam(2), this->nan), TypeParam(2));
  EXPECT_EQ(select(false, this->inf, TypeParam(3)), TypeParam(3));
  EXPECT_TRUE(std::signbit(select(true, TypeParam(-0.0), TypeParam(1))));
}

TEST(Math, OtherScalarsUseTheStandardFunctions) {
  EXPECT_EQ(exp(1.5L), std::exp(1.5L));
  EXPECT_EQ(erf(1.5L), std::erf(1.5L));
  const std::complex<double> z(0.3, -0.7);
  EXPECT_EQ(tanh(z), std::tanh(z));
  EXPECT_EQ(log(z), std::log(z));
  EXPECT_EQ(select(false, z, 2.0 * z), 2.0 * z);
}

TEST(Math, ScoresAreOrderedByTheirRealPart) {
  EXPECT_EQ(real(std::complex<double>(2, 5)), 2.0);
  EXPECT_EQ(real(3.0f), 3.0f);
  static_assert(std::is_same_v<real_of<std::complex<double>>, double>);
  EXPECT_EQ(infinity<std::complex<double>>, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace headwise::math
