#pragma once

#include <headwise/autograd/record.hpp>
#include <headwise/core/product.hpp>
#include <headwise/layer/elementwise.hpp>

#include <utility>

namespace headwise::autograd {

namespace detail {

template <class Scalar>
Var<Scalar> multiplied(const Var<Scalar>& a, const Var<Scalar>& b, const Executor& executor) {
  return a.tape().record(headwise::multiply(a.value(), b.value(), executor), {a, b},
                         [a, b, executor](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                           if (sweep.wants(a))
                             sweep.add(a, headwise::multiply_transposed(d, b.value(), executor));
                           if (sweep.wants(b))
                             sweep.add(b, headwise::multiply_transposed_left(a.value(), d, executor));
                         });
}

template <class Scalar>
void pull_back_product(Sweep<Scalar>& sweep, const Var<Scalar>& x, const Var<Scalar>& weight,
                       const Matrix<Scalar>& d, const Executor& executor) {
  if (sweep.wants(x)) sweep.add(x, headwise::multiply(d, weight.value(), executor));
  if (sweep.wants(weight)) sweep.add(weight, headwise::multiply_transposed_left(d, x.value(), executor));
}

template <class Scalar>
Var<Scalar> multiplied_transposed(const Var<Scalar>& x, const Var<Scalar>& weight, const Executor& executor) {
  return x.tape().record(headwise::multiply_transposed(x.value(), weight.value(), executor), {x, weight},
                         [x, weight, executor](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                           pull_back_product(sweep, x, weight, d, executor);
                         });
}

template <class Scalar>
Var<Scalar> affinely_mapped(const Var<Scalar>& x, const Var<Scalar>& weight, const Var<Scalar>& bias,
                            const Executor& executor) {
  return x.tape().record(headwise::affine(x.value(), weight.value(), bias.value(), executor),
                         {x, weight, bias},
                         [x, weight, bias, executor](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                           pull_back_product(sweep, x, weight, d, executor);
                           if (sweep.wants(bias)) sweep.add(bias, column_sums(d));
                         });
}

}  // namespace detail

// An executor is kept until the tape ends, for backward, and must live as long.

/// a b, recorded.   a [n, k], b [k, m] -> [n, m]
///
///     d_a = d b^T,   d_b = a^T d
template <class A, class B>
requires Recorded<A, B>
auto multiply(const A& a, const B& b, const Executor& executor = {}) {
  const auto [left, right] = detail::as_vars(a, b);
  return detail::multiplied(left, right, executor);
}

/// a b^T, recorded.   a [n, k], b [m, k] -> [n, m]
///
///     d_a = d b,   d_b = d^T a
template <class A, class B>
requires Recorded<A, B>
auto multiply_transposed(const A& a, const B& b, const Executor& executor = {}) {
  const auto [left, right] = detail::as_vars(a, b);
  return detail::multiplied_transposed(left, right, executor);
}

/// x W^T + b, recorded.   x [n, in], weight [out, in], bias [1, out] -> [n, out]
///
///     d_x = d W,   d_W = d^T x,   d_b = column sums of d
template <class X, class W, class B>
requires Recorded<X, W, B>
auto affine(const X& x, const W& weight, const B& bias, const Executor& executor = {}) {
  const auto [input, factor, shift] = detail::as_vars(x, weight, bias);
  return detail::affinely_mapped(input, factor, shift, executor);
}

}  // namespace headwise::autograd
