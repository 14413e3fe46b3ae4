#pragma once

#include <headwise/layer/on_threads.hpp>

#include <utility>

namespace headwise::layer {

/// The non-linearity of a feed-forward layer.
enum class Activation {
  relu,       ///< max(x, 0)
  gelu,       ///< x (1 + erf(x / sqrt 2)) / 2, exact
  gelu_tanh,  ///< the tanh approximation of GPT-2, BLOOM and T5 v1.1
  silu        ///< x sigmoid(x), of Llama
};

/// The verb that an option names. A temporary x gives its memory.   x [n, m] -> [n, m], the same bits for any
/// executor.
template <Sequence X>
auto activated(Activation activation, X&& x, const Executor& executor = {}) {
  switch (activation) {
    case Activation::gelu:
      return on_threads::gelu(executor, std::forward<X>(x));
    case Activation::gelu_tanh:
      return on_threads::gelu_tanh(executor, std::forward<X>(x));
    case Activation::silu:
      return on_threads::silu(executor, std::forward<X>(x));
    case Activation::relu:
      break;
  }
  return on_threads::relu(executor, std::forward<X>(x));
}

namespace detail {

/// act(gate) o x in one pass over both.
template <class Scalar, class Act>
Matrix<Scalar> gated_by(Act act, Matrix<Scalar>&& gate, const Matrix<Scalar>& x, const Executor& executor) {
  return headwise::detail::combined<Scalar>(
      "gated", std::move(gate), x, [act](Scalar a, Scalar b) { return act(a) * b; }, executor);
}

}  // namespace detail

/// act(gate) o x, number by number.   gate, x [n, m] -> [n, m], the same bits for any executor.
/// Throws ShapeError when the shapes differ. Matrices are read once; a sequence that records records two
/// verbs.
template <Sequence Gate, Sequence X>
auto gated(Activation activation, Gate&& gate, const X& x, const Executor& executor = {}) {
  return on_threads::multiply_elementwise(executor, activated(activation, std::forward<Gate>(gate), executor),
                                          x);
}
template <class Scalar>
Matrix<Scalar> gated(Activation activation, Matrix<Scalar>&& gate, const Matrix<Scalar>& x,
                     const Executor& executor = {}) {
  switch (activation) {
    case Activation::gelu:
      return detail::gated_by(headwise::detail::Gelu<Scalar>{}, std::move(gate), x, executor);
    case Activation::gelu_tanh:
      return detail::gated_by(headwise::detail::GeluTanh<Scalar>{}, std::move(gate), x, executor);
    case Activation::silu:
      return detail::gated_by(headwise::detail::Silu<Scalar>{}, std::move(gate), x, executor);
    case Activation::relu:
      break;
  }
  return detail::gated_by(headwise::detail::Relu<Scalar>{}, std::move(gate), x, executor);
}

}  // namespace headwise::layer
