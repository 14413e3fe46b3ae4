#pragma once

#include <headwise/autograd/record.hpp>
#include <headwise/core/math.hpp>
#include <headwise/layer/elementwise.hpp>

#include <numbers>
#include <utility>

namespace headwise::autograd {

namespace detail {

/// f at every number; derivative(d, x, y) is the gradient of x, given that of y = f(x).
template <class Scalar, class F, class Derivative>
Var<Scalar> pointwise(const Var<Scalar>& x, const Executor& executor, F f, Derivative derivative) {
  return x.tape().record(headwise::detail::transformed<Scalar>(x.value(), f, executor), {x},
                         [x, executor, derivative](Sweep<Scalar>& sweep, Matrix<Scalar> d) {
                           sweep.add(x, headwise::detail::combined<Scalar>("backward", std::move(d),
                                                                           x.value(), derivative, executor));
                         });
}

/// The gradient of an operand, given that of the result: summed over rows where one row served all.
template <class Scalar>
void add_broadcast(Sweep<Scalar>& sweep, const Var<Scalar>& operand, Matrix<Scalar> d) {
  if (!sweep.wants(operand)) return;
  if (operand.rows() == d.rows()) {
    sweep.add(operand, std::move(d));
  } else {
    sweep.add(operand, column_sums(d));
  }
}

template <class Scalar>
Var<Scalar> added(const Var<Scalar>& x, const Var<Scalar>& y, const Executor& executor) {
  return x.tape().record(headwise::add(x.value(), y.value(), executor), {x, y},
                         [x, y](Sweep<Scalar>& sweep, Matrix<Scalar> d) {
                           add_broadcast(sweep, y, Matrix<Scalar>(d));
                           sweep.add(x, std::move(d));
                         });
}

template <class Scalar>
Var<Scalar> subtracted(const Var<Scalar>& x, const Var<Scalar>& y, const Executor& executor) {
  return x.tape().record(headwise::subtract(x.value(), y.value(), executor), {x, y},
                         [x, y, executor](Sweep<Scalar>& sweep, Matrix<Scalar> d) {
                           add_broadcast(sweep, y, headwise::multiply_scalar(d, -1, executor));
                           sweep.add(x, std::move(d));
                         });
}

template <class Scalar>
Var<Scalar> multiplied_elementwise(const Var<Scalar>& x, const Var<Scalar>& y, const Executor& executor) {
  return x.tape().record(headwise::multiply_elementwise(x.value(), y.value(), executor), {x, y},
                         [x, y, executor](Sweep<Scalar>& sweep, Matrix<Scalar> d) {
                           if (sweep.wants(y)) {
                             add_broadcast(sweep, y, headwise::multiply_elementwise(d, x.value(), executor));
                           }
                           if (sweep.wants(x)) {
                             sweep.add(x, headwise::multiply_elementwise(std::move(d), y.value(), executor));
                           }
                         });
}

template <class Scalar>
Scalar logistic(Scalar x) noexcept {
  return Scalar(1) / (Scalar(1) + math::exp(-x));
}

}  // namespace detail

// An executor is kept until the tape ends, for backward, and must live as long.

/// x + y, recorded.   x [n, m], y [n, m] or one row [1, m] for all -> [n, m]
template <class X, class Y>
requires Recorded<X, Y>
auto add(const X& x, const Y& y, const Executor& executor = {}) {
  const auto [left, right] = detail::as_vars(x, y);
  return detail::added(left, right, executor);
}

/// x - y, recorded.   x [n, m], y [n, m] or [1, m] -> [n, m]
template <class X, class Y>
requires Recorded<X, Y>
auto subtract(const X& x, const Y& y, const Executor& executor = {}) {
  const auto [left, right] = detail::as_vars(x, y);
  return detail::subtracted(left, right, executor);
}

/// x o y, recorded.   x [n, m], y [n, m] or [1, m] -> [n, m]
///
///     d_x = d o y,   d_y = d o x
template <class X, class Y>
requires Recorded<X, Y>
auto multiply_elementwise(const X& x, const Y& y, const Executor& executor = {}) {
  const auto [left, right] = detail::as_vars(x, y);
  return detail::multiplied_elementwise(left, right, executor);
}

/// factor x, recorded.   x [n, m] -> [n, m]
template <class Scalar>
Var<Scalar> multiply_scalar(const Var<Scalar>& x, double factor, const Executor& executor = {}) {
  return x.tape().record(headwise::multiply_scalar(x.value(), factor, executor), {x},
                         [x, factor, executor](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                           sweep.add(x, headwise::multiply_scalar(d, factor, executor));
                         });
}

/// max(x, 0), recorded; the derivative at 0 is 0.   x [n, m] -> [n, m]
template <class Scalar>
Var<Scalar> relu(const Var<Scalar>& x, const Executor& executor = {}) {
  return detail::pointwise(x, executor, headwise::detail::Relu<Scalar>{},
                           [](Scalar d, Scalar v) { return math::select(v > Scalar(0), d, Scalar(0)); });
}

/// x Phi(x), recorded; the derivative is Phi(x) + x phi(x).   x [n, m] -> [n, m]
template <class Scalar>
Var<Scalar> gelu(const Var<Scalar>& x, const Executor& executor = {}) {
  return detail::pointwise(x, executor, headwise::detail::Gelu<Scalar>{}, [](Scalar d, Scalar v) {
    constexpr Scalar inv_sqrt_2 = Scalar(1 / std::numbers::sqrt2);
    constexpr Scalar density_at_0 = Scalar(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    const Scalar below = Scalar(0.5) * (Scalar(1) + math::erf(v * inv_sqrt_2));
    return d * (below + v * density_at_0 * math::exp(Scalar(-0.5) * v * v));
  });
}

/// The tanh approximation of gelu, recorded: x s with s = sigmoid(2u), whose derivative is
/// s + x s (1 - s) 2u'.   x [n, m] -> [n, m]
template <class Scalar>
Var<Scalar> gelu_tanh(const Var<Scalar>& x, const Executor& executor = {}) {
  return detail::pointwise(x, executor, headwise::detail::GeluTanh<Scalar>{}, [](Scalar d, Scalar v) {
    constexpr Scalar sqrt_8_over_pi = Scalar(1.5957691216057307117597842397375), cubic = Scalar(0.044715);
    const Scalar s = detail::logistic(sqrt_8_over_pi * (v + cubic * v * v * v));
    const Scalar slope = sqrt_8_over_pi * (Scalar(1) + Scalar(3) * cubic * v * v);
    return d * (s + v * s * (Scalar(1) - s) * slope);
  });
}

/// x sigmoid(x), recorded; the derivative is s (1 + x (1 - s)).   x [n, m] -> [n, m]
template <class Scalar>
Var<Scalar> silu(const Var<Scalar>& x, const Executor& executor = {}) {
  return detail::pointwise(x, executor, headwise::detail::Silu<Scalar>{}, [](Scalar d, Scalar v) {
    const Scalar s = detail::logistic(v);
    return d * s * (Scalar(1) + v * (Scalar(1) - s));
  });
}

/// 1 / (1 + exp(-x)), recorded.   x [n, m] -> [n, m]
template <class Scalar>
Var<Scalar> sigmoid(const Var<Scalar>& x, const Executor& executor = {}) {
  return detail::pointwise(x, executor, headwise::detail::Sigmoid<Scalar>{}, [](Scalar d, Scalar v) {
    const Scalar s = detail::logistic(v);
    return d * s * (Scalar(1) - s);
  });
}

/// tanh(x), recorded.   x [n, m] -> [n, m]
template <class Scalar>
Var<Scalar> tanh(const Var<Scalar>& x, const Executor& executor = {}) {
  return detail::pointwise(x, executor, headwise::detail::Tanh<Scalar>{}, [](Scalar d, Scalar v) {
    const Scalar t = math::tanh(v);
    return d * (Scalar(1) - t * t);
  });
}

/// sum(x), recorded.   x [n, m] -> [1, 1]
template <class Scalar>
Var<Scalar> sum(const Var<Scalar>& x) {
  return x.tape().record(Matrix<Scalar>::Constant(1, 1, x.value().sum()), {x},
                         [x](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                           sweep.add(x, Matrix<Scalar>::Constant(x.rows(), x.cols(), d(0, 0)));
                         });
}

}  // namespace headwise::autograd
