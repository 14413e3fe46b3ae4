#pragma once

#include <headwise/core/matrix.hpp>
#include <headwise/core/product.hpp>

#include <utility>

namespace headwise {

/// x itself; on a tape, the point where its gradient ends: memories, targets, discrete choices.
///   x [n, m] -> [n, m]
template <Computable X>
Matrix<scalar_of<X>> stop_gradient(const X& x) {
  return value_of(x);
}
template <class Scalar>
Matrix<Scalar> stop_gradient(Matrix<Scalar>&& x) noexcept {
  return std::move(x);
}

}  // namespace headwise
