#pragma once

#include <headwise/autograd/tape.hpp>
#include <headwise/core/random.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <string_view>
#include <vector>

/// The laws of gradients, for verbs and for layers. A function is written once and called with matrices, with
/// variables, and, where it can be, with complex matrices that carry a derivative.
namespace headwise::laws {

using Inputs = std::vector<Matrix<double>>;

inline double inner(const Matrix<double>& a, const Matrix<double>& b) {
  double sum = 0;
  for (Index i = 0; i < a.size(); ++i) sum += a.data()[i] * b.data()[i];
  return sum;
}

inline Inputs directions(const Inputs& inputs, std::uint64_t seed) {
  Inputs result;
  for (const auto& x : inputs) result.push_back(check::random(x.rows(), x.cols(), seed++));
  return result;
}

/// The derivative of f along v, by a step so small in the imaginary direction that nothing cancels.
template <class F>
Matrix<double> along(const F& f, const Inputs& inputs, const Inputs& v) {
  using Complex = std::complex<double>;
  constexpr double step = 1e-20;
  std::vector<Matrix<Complex>> x;
  for (std::size_t n = 0; n < inputs.size(); ++n)
    x.push_back(inputs[n].template cast<Complex>() + Complex(0, step) * v[n].template cast<Complex>());
  const Matrix<Complex> y = f(x);
  return y.imag() / step;
}

/// One backward: the gradients of sum(f(x) o d), and that f's value is bit-equal to that without a tape.
template <class F>
Inputs backward_of(const F& f, const Inputs& inputs, const Matrix<double>& d) {
  autograd::Tape<double> tape;
  std::vector<autograd::Var<double>> x;
  for (const auto& each : inputs) x.push_back(tape.input(each));
  const autograd::Var<double> y = f(x);
  EXPECT_EQ(y.value(), f(inputs));
  const auto gradients = backward(y, d);
  Inputs result;
  for (const auto& each : x) result.push_back(gradients.of(each));
  return result;
}

/// For a verb that takes complex matrices: every coordinate of every gradient by complex step, and
/// u . (J v) = (J^T u) . v.
template <class F>
void expect_gradients(const F& f, const Inputs& inputs, double tolerance = 1e-12) {
  const Matrix<double> value = f(inputs);
  const Matrix<double> d = check::random(value.rows(), value.cols(), 99);
  const Inputs got = backward_of(f, inputs, d);
  Inputs v;
  for (const auto& x : inputs) v.push_back(Matrix<double>::Zero(x.rows(), x.cols()));
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    Matrix<double> expected(inputs[n].rows(), inputs[n].cols());
    for (Index i = 0; i < expected.size(); ++i) {
      v[n].data()[i] = 1;
      expected.data()[i] = inner(d, along(f, inputs, v));
      v[n].data()[i] = 0;
    }
    EXPECT_TRUE(check::near(got[n], expected, tolerance, tolerance)) << "gradient of operand " << n;
  }
  const Inputs u = directions(inputs, 7);
  double pulled = 0;
  for (std::size_t n = 0; n < inputs.size(); ++n) pulled += inner(got[n], u[n]);
  EXPECT_NEAR(inner(d, along(f, inputs, u)), pulled, tolerance * std::max(1.0, std::abs(pulled)));
}

/// For a verb that only takes real numbers: every coordinate by central differences.
template <class F>
void expect_gradients_by_differences(const F& f, Inputs inputs) {
  const Matrix<double> value = f(inputs);
  const Matrix<double> d = check::random(value.rows(), value.cols(), 99);
  const Inputs got = backward_of(f, inputs, d);
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    Matrix<double> expected(inputs[n].rows(), inputs[n].cols());
    for (Index i = 0; i < expected.size(); ++i) {
      double& number = inputs[n].data()[i];
      const double before = number, step = 6e-6 * std::max(1.0, std::abs(before));
      number = before + step;
      const double above = inner(d, f(inputs));
      number = before - step;
      expected.data()[i] = (above - inner(d, f(inputs))) / (2 * step);
      number = before;
    }
    EXPECT_TRUE(check::near(got[n], expected, 1e-7, 1e-6)) << "gradient of operand " << n;
  }
}

/// sum(f(x) o d) of a layer, its numbers changed by `step` along their directions.
template <class Layer, class F>
double shifted_loss(Layer& layer, const F& f, const Matrix<double>& x, const Matrix<double>& d,
                    const Matrix<double>& v, const Inputs& w, double step) {
  const auto shift = [&](double by) {
    std::size_t n = 0;
    layer.for_each_parameter([&](std::string_view, auto& parameter) { parameter.value += by * w[n++]; });
  };
  Inputs before;
  layer.for_each_parameter(
      [&](std::string_view, const auto& parameter) { before.push_back(parameter.value); });
  shift(step);
  const double loss = inner(d, f(layer, Matrix<double>(x + step * v)));
  std::size_t n = 0;
  layer.for_each_parameter([&](std::string_view, auto& parameter) { parameter.value = before[n++]; });
  return loss;
}

/// For a layer, f(layer, x): values bit-equal; every coordinate of x and of each parameter (or every
/// `stride`-th of a large one) by central differences; and a random direction over all of them at once by a
/// five-point stencil, which would show a missing term.
template <class Layer, class F>
void expect_layer_gradients(Layer& layer, const F& f, const Matrix<double>& x, Index stride = 1) {
  const Matrix<double> value = f(layer, x);
  const Matrix<double> d = check::random(value.rows(), value.cols(), 99);
  autograd::Tape<double> tape;
  const auto input = tape.input(x);
  const autograd::Var<double> y = f(layer, input);
  EXPECT_EQ(y.value(), value);
  const auto gradients = backward(y, d);

  Matrix<double> moved = x;
  const auto quotient = [&](double& number) {
    const double before = number, step = 6e-6 * std::max(1.0, std::abs(before));
    number = before + step;
    const double above = inner(d, f(layer, moved));
    number = before - step;
    const double below = inner(d, f(layer, moved));
    number = before;
    return (above - below) / (2 * step);
  };
  const auto expect = [&](const std::string& name, Matrix<double>& numbers, const Matrix<double>& got) {
    for (Index i = 0; i < numbers.size(); i += stride) {
      const double expected = quotient(numbers.data()[i]);
      ASSERT_NEAR(got.data()[i], expected, 1e-7 + 1e-6 * std::abs(expected)) << name << ", number " << i;
    }
  };
  expect("x", moved, gradients.of(input));
  Inputs w;
  const Matrix<double> v = check::random(x.rows(), x.cols(), 55);
  double pulled = inner(gradients.of(input), v);
  layer.for_each_parameter([&](std::string_view name, auto& parameter) {
    expect(std::string(name), parameter.value, gradients.of(parameter));
    w.push_back(check::random(parameter.rows(), parameter.cols(), 60 + w.size()));
    pulled += inner(gradients.of(parameter), w.back());
  });
  const double h = 1e-3;
  const auto at = [&](double step) { return shifted_loss(layer, f, x, d, v, w, step); };
  const double pushed = (at(-2 * h) - 8 * at(-h) + 8 * at(h) - at(2 * h)) / (12 * h);
  EXPECT_NEAR(pulled, pushed, 1e-8 * std::max(1.0, std::abs(pushed))) << "along a random direction";
}

}  // namespace headwise::laws
