#pragma once

#include <headwise/layer/initial.hpp>
#include <headwise/layer/on_threads.hpp>
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

}  // namespace detail

}  // namespace headwise::layer
