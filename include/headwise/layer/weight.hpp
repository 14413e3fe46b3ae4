#pragma once

#include <headwise/core/executor.hpp>
#include <headwise/layer/initial.hpp>
#include <headwise/layer/ops.hpp>
#include <headwise/stored/product.hpp>

#include <concepts>

namespace headwise::layer {

/// What a layer may hold as its factor [out, in]: a learned Parameter, or a stored::Weight that stays as a
/// file has it. A layer is written once, for any type with a product of its own.
template <class W, class Scalar>
concept Factor = std::same_as<typename W::Scalar, Scalar> &&
    requires(const W& weight, const Matrix<Scalar>& x) {
  { weight.rows() } -> std::convertible_to<Index>;
  { weight.cols() } -> std::convertible_to<Index>;
  { multiply_transposed(x, weight) } -> std::same_as<Matrix<Scalar>>;
};

namespace detail {

/// The factor of a new layer; a stored one is zeros, whatever `initial` says, until a loader brings its
/// numbers.
template <class W>
W new_weight(const Initial& initial, Index out, Index in) {
  if constexpr (std::same_as<W, stored::Weight>) {
    return W::zeros(out, in);
  } else {
    return initial.template weight<typename W::Scalar>(out, in);
  }
}

/// The same for an embedding [count, width].
template <class W>
W new_table(const Initial& initial, Index count, Index width) {
  if constexpr (std::same_as<W, stored::Weight>) {
    return W::zeros(count, width);
  } else {
    return initial.template table<typename W::Scalar>(count, width);
  }
}

/// x W^T on the threads of an executor. What records may have products without threads.
template <class X, class W>
auto multiplied(const X& x, const W& weight, const Executor& executor) {
  if constexpr (requires { multiply_transposed(x, weight, executor); }) {
    return multiply_transposed(x, weight, executor);
  } else {
    return multiply_transposed(x, weight);
  }
}

/// x W^T + b, the same way.
template <class X, class W, class B>
auto affinely_mapped(const X& x, const W& weight, const B& bias, const Executor& executor) {
  if constexpr (requires { affine(x, weight, bias, executor); }) {
    return affine(x, weight, bias, executor);
  } else {
    return affine(x, weight, bias);
  }
}

}  // namespace detail

}  // namespace headwise::layer
