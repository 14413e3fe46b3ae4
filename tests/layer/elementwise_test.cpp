#include <headwise/layer/elementwise.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/thrown.hpp"

#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <utility>

namespace headwise {
namespace {

using check::near;
using check::random;
using check::thrown;
using Function = std::function<double(double)>;

Matrix<double> each(const Matrix<double>& x, const Function& f) {
  Matrix<double> out(x.rows(), x.cols());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) out(i, j) = f(x(i, j));
  return out;
}

const double sqrt_2_over_pi = std::sqrt(2 / std::acos(-1.0));
const Function relu_formula = [](double x) { return x > 0 ? x : 0; };
const Function gelu_formula = [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); };
const Function gelu_tanh_formula = [](double x) {
  return 0.5 * x * (1 + std::tanh(sqrt_2_over_pi * (x + 0.044715 * x * x * x)));
};
const Function silu_formula = [](double x) { return x / (1 + std::exp(-x)); };
const Function sigmoid_formula = [](double x) { return 1 / (1 + std::exp(-x)); };
const Function tanh_formula = [](double x) { return std::tanh(x); };

TEST(Activations, FollowTheirFormulasAtAnySize) {
  for (Index rows : {0, 1, 3}) {
    for (Index cols : {0, 1, 31, 32, 33, 63, 64, 65}) {
      const Matrix<double> x = 3 * random(rows, cols, 1);
      EXPECT_TRUE(near(relu(x), each(x, relu_formula), 0));
      EXPECT_TRUE(near(gelu(x), each(x, gelu_formula), 1e-14));
      EXPECT_TRUE(near(gelu_tanh(x), each(x, gelu_tanh_formula), 1e-14));
      EXPECT_TRUE(near(silu(x), each(x, silu_formula), 1e-14));
      EXPECT_TRUE(near(sigmoid(x), each(x, sigmoid_formula), 1e-14));
      EXPECT_TRUE(near(tanh(x), each(x, tanh_formula), 1e-14));
    }
  }
}

TEST(Activations, AgreeInFloatWithinItsRounding) {
  const Matrix<double> x = 3 * random(5, 67, 2);
  const Matrix<float> narrow = x.cast<float>();
  const Matrix<double> rounded = narrow.cast<double>();
  EXPECT_TRUE(near(relu(narrow), each(rounded, relu_formula), 0));
  EXPECT_TRUE(near(gelu(narrow), each(rounded, gelu_formula), 1e-6, 1e-6));
  EXPECT_TRUE(near(gelu_tanh(narrow), each(rounded, gelu_tanh_formula), 1e-6, 1e-6));
  EXPECT_TRUE(near(silu(narrow), each(rounded, silu_formula), 1e-6, 1e-6));
  EXPECT_TRUE(near(sigmoid(narrow), each(rounded, sigmoid_formula), 1e-6));
  EXPECT_TRUE(near(tanh(narrow), each(rounded, tanh_formula), 1e-6));
}

TEST(Activations, StayFiniteFarOut) {
  Matrix<float> x(1, 4);
  x << -1e30f, -200, 200, 1e30f;
  const Matrix<float> expected = x.cwiseMax(0.0f);
  EXPECT_TRUE(near(relu(x), expected, 0));
  EXPECT_TRUE(near(gelu(x), expected, 1e-30));
  EXPECT_TRUE(near(gelu_tanh(x), expected, 1e-30));
  EXPECT_TRUE(near(silu(x), expected, 1e-30));
}

TEST(Activations, LetNotANumberThrough) {
  const Matrix<double> x = Matrix<double>::Constant(2, 40, std::numeric_limits<double>::quiet_NaN());
  for (const Matrix<double>& y : {relu(x), gelu(x), gelu_tanh(x), silu(x), sigmoid(x)})
    EXPECT_TRUE(std::isnan(y(1, 39)));
}

TEST(Activations, GiveTheSameBitsForATemporary) {
  const Matrix<double> x = random(7, 65, 3);
  EXPECT_EQ(relu(Matrix<double>(x)), relu(x));
  EXPECT_EQ(gelu(Matrix<double>(x)), gelu(x));
  EXPECT_EQ(gelu_tanh(Matrix<double>(x)), gelu_tanh(x));
  EXPECT_EQ(silu(Matrix<double>(x)), silu(x));
}

TEST(Activations, ReuseTheMemoryOfATemporary) {
  Matrix<double> x = random(7, 65, 3);
  const double* before = x.data();
  const Matrix<double> y = gelu(std::move(x));
  EXPECT_EQ(y.data(), before);
}

TEST(Activations, ReadExpressionsAndBothStorageOrders) {
  const Matrix<double> x = random(6, 5, 4);
  const Eigen::MatrixXd columns = x;
  EXPECT_EQ(relu(columns), relu(x));
  EXPECT_EQ(relu(x.topRows(3)), relu(Matrix<double>(x.topRows(3))));
  EXPECT_EQ(relu(2 * x), relu(Matrix<double>(2 * x)));
}

TEST(Activations, CarryAComplexStep) {
  const double step = 1e-20;
  for (double at : {-2.0, -0.3, 0.4, 1.7}) {
    Matrix<std::complex<double>> x(1, 1);
    x(0, 0) = {at, step};
    const double h = 1e-5;
    const double slope = (gelu_tanh_formula(at + h) - gelu_tanh_formula(at - h)) / (2 * h);
    EXPECT_NEAR(gelu_tanh(x)(0, 0).imag() / step, slope, 1e-9);
    EXPECT_NEAR(relu(x)(0, 0).imag() / step, at > 0 ? 1 : 0, 0);
  }
}

TEST(Elementwise, AddsSubtractsAndMultiplies) {
  for (Index cols : {0, 1, 63, 64, 65}) {
    const auto x = random(3, cols, 1), y = random(3, cols, 2);
    EXPECT_TRUE(near(add(x, y), x + y, 0));
    EXPECT_TRUE(near(add(Matrix<double>(x), y), x + y, 0));
    EXPECT_TRUE(near(subtract(x, y), x - y, 0));
    EXPECT_TRUE(near(multiply_elementwise(x, y), x.cwiseProduct(y), 0));
    EXPECT_TRUE(near(multiply_elementwise(Matrix<double>(x), y), x.cwiseProduct(y), 0));
    EXPECT_TRUE(near(multiply_scalar(x, 2.5), 2.5 * x, 0));
  }
}

TEST(Elementwise, ReadsOneRowForAll) {
  const auto x = random(5, 33, 1), row = random(1, 33, 2);
  const Parameter<double> parameter{row};
  EXPECT_TRUE(near(add(x, parameter), x.rowwise() + row.row(0), 0));
  EXPECT_TRUE(near(multiply_elementwise(x, parameter), x.cwiseProduct(row.replicate(5, 1)), 0));
}

TEST(Elementwise, ReadsColumnBlocksInPlace) {
  const auto x = random(4, 8, 1), wide = random(4, 20, 2);
  EXPECT_TRUE(near(add(x, wide.middleCols(7, 8)), x + wide.middleCols(7, 8), 0));
}

TEST(Elementwise, NamesTheOperandThatDoesNotFit) {
  const auto x = random(3, 4, 1);
  EXPECT_EQ(thrown<ShapeError>([&] { (void)add(x, random(3, 5, 2)); }),
            "add: columns of the right operand is 5, expected 4");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)add(x, random(2, 4, 2)); }),
            "add: rows of the right operand is 2, expected 3; as many as the left, or one for all");
}

}  // namespace
}  // namespace headwise
