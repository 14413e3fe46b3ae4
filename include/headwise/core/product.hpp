#pragma once

#include <headwise/core/dense_product.hpp>
#include <headwise/core/error.hpp>
#include <headwise/core/executor.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/core/parameter.hpp>

// Defined by the target headwise::blas, for a program that links a BLAS.
#if defined(HEADWISE_WITH_BLAS)
#include <headwise/core/blas.inc>
#endif

#include <concepts>
#include <utility>

namespace headwise {

namespace detail {

/// Whose products this file calls, and what it is compiled for, as a type: a template argument of all that
/// calls them, so that the linker does not merge the code of two files that differ in it.
#if defined(HEADWISE_WITH_BLAS)
template <class Flags>
struct ProductsOfBlas {};
using FileProducts = ProductsOfBlas<FileFlags>;
#else
template <class Flags>
struct OwnProducts {};
using FileProducts = OwnProducts<FileFlags>;
#endif

/// float and double take the BLAS where there is one, else the dispatched micro-tiles.
template <class Scalar, class Products = FileProducts>
void multiply_lanes_into(const ConstMatrixRef<Scalar>& a, const ConstMatrixRef<Scalar>& b,
                         MatrixRef<Scalar> out, dense_product::Transposed transposed,
                         const Executor& executor) {
  const Index steps = transposed == dense_product::Transposed::left ? a.rows() : a.cols();
  if (steps == 0) {
    out.setZero();
    return;
  }
  const dense_product::Product<Scalar> product{{a.data(), a.outerStride()},
                                               {b.data(), b.outerStride()},
                                               transposed,
                                               out.rows(),
                                               out.cols(),
                                               steps,
                                               out.data(),
                                               out.outerStride()};
#if defined(HEADWISE_WITH_BLAS)
  if (blas::run(product, executor)) return;
#endif
  dense_product::run<Scalar>(product, executor);
}

/// out = a b. Eigen serves the scalars that have no lanes.
template <class Scalar, class Products = FileProducts>
void multiply_into(const ConstMatrixRef<Scalar>& a, const ConstMatrixRef<Scalar>& b, MatrixRef<Scalar> out,
                   const Executor& executor = {}) {
  if constexpr (math::LaneScalar<Scalar>) {
    multiply_lanes_into<Scalar, Products>(a, b, out, dense_product::Transposed::none, executor);
  } else {
    out.noalias() = a * b;
  }
}

/// out = a b^T.
template <class Scalar, class Products = FileProducts>
void multiply_transposed_into(const ConstMatrixRef<Scalar>& a, const ConstMatrixRef<Scalar>& b,
                              MatrixRef<Scalar> out, const Executor& executor = {}) {
  if constexpr (math::LaneScalar<Scalar>) {
    multiply_lanes_into<Scalar, Products>(a, b, out, dense_product::Transposed::right, executor);
  } else {
    out.noalias() = a * b.transpose();
  }
}

/// out = a^T b.
template <class Scalar, class Products = FileProducts>
void multiply_transposed_left_into(const ConstMatrixRef<Scalar>& a, const ConstMatrixRef<Scalar>& b,
                                   MatrixRef<Scalar> out, const Executor& executor = {}) {
  if constexpr (math::LaneScalar<Scalar>) {
    multiply_lanes_into<Scalar, Products>(a, b, out, dense_product::Transposed::left, executor);
  } else {
    out.noalias() = a.transpose() * b;
  }
}

}  // namespace detail

/// What a computing verb accepts besides expressions: a matrix or a parameter.
template <class T>
concept Computable = requires(const T& x) {
  value_of(x).rows();
}
&&RealMatrix<decltype(value_of(std::declval<const T&>()))>;

// The products of whole matrices. An executor shares their columns between threads: the same numbers, bit for
// bit, for any number of them, as each is summed by one thread.

/// a b.   a [n, k], b [k, m] -> [n, m]. Throws ShapeError when the inner sizes differ. Cost: 2 n k m FLOPs.
template <Computable A, Computable B, class Products = detail::FileProducts>
Matrix<scalar_of<A>> multiply(const A& a, const B& b, const Executor& executor = {}) {
  static_assert(std::same_as<scalar_of<A>, scalar_of<B>>, "multiply: both factors must have one scalar type");
  expect_equal("multiply: rows of the right factor", b.rows(), a.cols());
  Matrix<scalar_of<A>> out(a.rows(), b.cols());
  detail::multiply_into<scalar_of<A>, Products>(value_of(a), value_of(b), out, executor);
  return out;
}

/// a b^T.   a [n, k], b [m, k] -> [n, m]. Throws ShapeError when the columns differ. Cost: 2 n k m FLOPs.
template <Computable A, Computable B, class Products = detail::FileProducts>
Matrix<scalar_of<A>> multiply_transposed(const A& a, const B& b, const Executor& executor = {}) {
  static_assert(std::same_as<scalar_of<A>, scalar_of<B>>,
                "multiply_transposed: both factors must have one scalar type");
  expect_equal("multiply_transposed: columns of the right factor", b.cols(), a.cols());
  Matrix<scalar_of<A>> out(a.rows(), b.rows());
  detail::multiply_transposed_into<scalar_of<A>, Products>(value_of(a), value_of(b), out, executor);
  return out;
}

/// a^T b, the gradient of a weight.   a [k, n], b [k, m] -> [n, m]. Throws ShapeError when the rows differ.
/// Cost: 2 n k m FLOPs; no transposed copy is made.
template <Computable A, Computable B, class Products = detail::FileProducts>
Matrix<scalar_of<A>> multiply_transposed_left(const A& a, const B& b, const Executor& executor = {}) {
  static_assert(std::same_as<scalar_of<A>, scalar_of<B>>,
                "multiply_transposed_left: both factors must have one scalar type");
  expect_equal("multiply_transposed_left: rows of the right factor", b.rows(), a.rows());
  Matrix<scalar_of<A>> out(a.cols(), b.cols());
  detail::multiply_transposed_left_into<scalar_of<A>, Products>(value_of(a), value_of(b), out, executor);
  return out;
}

}  // namespace headwise
