#pragma once

#include <headwise/core/dense_product.hpp>
#include <headwise/core/error.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/core/parameter.hpp>

namespace headwise {

namespace detail {

/// float and double take the dispatched micro-tiles, every other scalar Eigen's product.
template <class Scalar>
void multiply_into(const ConstMatrixRef<Scalar>& a, const ConstMatrixRef<Scalar>& b, MatrixRef<Scalar> out,
                   const Executor& executor = {}) {
  if constexpr (math::LaneScalar<Scalar>) {
    if (a.cols() > 0)
      return dense_product::run<Scalar>({{a.data(), a.outerStride()},
                                         {b.data(), b.outerStride()},
                                         false,
                                         a.rows(),
                                         b.cols(),
                                         a.cols(),
                                         out.data(),
                                         out.outerStride()},
                                        executor);
    out.setZero();
  } else {
    out.noalias() = a * b;
  }
}

/// out = a b^T.
template <class Scalar>
void multiply_transposed_into(const ConstMatrixRef<Scalar>& a, const ConstMatrixRef<Scalar>& b,
                              MatrixRef<Scalar> out, const Executor& executor = {}) {
  if constexpr (math::LaneScalar<Scalar>) {
    if (a.cols() > 0)
      return dense_product::run<Scalar>({{a.data(), a.outerStride()},
                                         {b.data(), b.outerStride()},
                                         true,
                                         a.rows(),
                                         b.rows(),
                                         a.cols(),
                                         out.data(),
                                         out.outerStride()},
                                        executor);
    out.setZero();
  } else {
    out.noalias() = a * b.transpose();
  }
}

}  // namespace detail

/// What a computing verb accepts besides expressions: a matrix or a parameter.
template <class T>
concept Computable = requires(const T& x) {
  value_of(x).rows();
}
&&RealMatrix<decltype(value_of(std::declval<const T&>()))>;

/// a b.   a [n, k], b [k, m] -> [n, m]. Throws ShapeError when the inner sizes differ. Cost: 2 n k m FLOPs.
template <Computable A, Computable B>
Matrix<scalar_of<A>> multiply(const A& a, const B& b) {
  static_assert(std::same_as<scalar_of<A>, scalar_of<B>>, "multiply: both factors must have one scalar type");
  expect_equal("multiply: rows of the right factor", b.rows(), a.cols());
  Matrix<scalar_of<A>> out(a.rows(), b.cols());
  detail::multiply_into<scalar_of<A>>(value_of(a), value_of(b), out);
  return out;
}

/// a b^T.   a [n, k], b [m, k] -> [n, m]. Throws ShapeError when the columns differ. Cost: 2 n k m FLOPs.
template <Computable A, Computable B>
Matrix<scalar_of<A>> multiply_transposed(const A& a, const B& b) {
  static_assert(std::same_as<scalar_of<A>, scalar_of<B>>,
                "multiply_transposed: both factors must have one scalar type");
  expect_equal("multiply_transposed: columns of the right factor", b.cols(), a.cols());
  Matrix<scalar_of<A>> out(a.rows(), b.rows());
  detail::multiply_transposed_into<scalar_of<A>>(value_of(a), value_of(b), out);
  return out;
}

}  // namespace headwise
