#include <headwise/autograd/elementwise.hpp>

#include "autograd/laws.hpp"

// Each verb is called without namespace, as layers do: the lambda finds that of matrices or of variables.
namespace headwise::elementwise_test {
namespace {

using check::random;
using laws::expect_gradients;
using laws::expect_gradients_by_differences;

TEST(Elementwise, SumsTheGradientOfARowThatServedAll) {
  for (Index rows : {1, 4}) {
    const laws::Inputs inputs{random(4, 3, 1), random(rows, 3, 2)};
    expect_gradients([](const auto& x) { return add(x[0], x[1]); }, inputs);
    expect_gradients([](const auto& x) { return subtract(x[0], x[1]); }, inputs);
    expect_gradients([](const auto& x) { return multiply_elementwise(x[0], x[1]); }, inputs);
  }
  expect_gradients([](const auto& x) { return multiply_elementwise(x[0], x[0]); }, {random(4, 3, 1)});
  expect_gradients([](const auto& x) { return multiply_scalar(x[0], -2.5); }, {random(4, 3, 1)});
}

TEST(Elementwise, ActivationsHaveTheirDerivatives) {
  const laws::Inputs inputs{Matrix<double>(2 * random(5, 41, 1))};
  expect_gradients([](const auto& x) { return relu(x[0]); }, inputs);
  expect_gradients([](const auto& x) { return gelu_tanh(x[0]); }, inputs);
  expect_gradients([](const auto& x) { return silu(x[0]); }, inputs);
  expect_gradients([](const auto& x) { return sigmoid(x[0]); }, inputs);
  expect_gradients([](const auto& x) { return tanh(x[0]); }, inputs);
  expect_gradients_by_differences([](const auto& x) { return gelu(x[0]); }, inputs);
}

TEST(Elementwise, DerivativesStayFiniteFarOut) {
  autograd::Tape<float> tape;
  const auto x = tape.input(Matrix<float>{{-1e4f, -100, 0, 100, 1e4f}});
  const auto slope = [&](const autograd::Var<float>& y) { return backward(sum(y)).of(x); };
  const Matrix<float> gate{{0, 0, 0.5f, 1, 1}};
  EXPECT_TRUE(check::near(slope(gelu(x)), gate, 1e-6));
  EXPECT_TRUE(check::near(slope(gelu_tanh(x)), gate, 1e-6));
  EXPECT_TRUE(check::near(slope(silu(x)), gate, 1e-6));
  EXPECT_TRUE(check::near(slope(sigmoid(x)), Matrix<float>{{0, 0, 0.25f, 0, 0}}, 1e-6));
  EXPECT_TRUE(check::near(slope(tanh(x)), Matrix<float>{{0, 0, 1, 0, 0}}, 1e-6));
}

}  // namespace
}  // namespace headwise::elementwise_test
