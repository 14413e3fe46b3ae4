#pragma once

#include <Eigen/Core>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace headwise {

using Index = Eigen::Index;

/// Where a token stands in its sequence, as policies see it: 32 bits, so that lane loops convert it to float.
/// Lengths above 2^31 - 1 are refused at the border; offsets in memory stay Index.
using Position = std::int32_t;

/// A vocabulary entry.
using TokenId = std::int32_t;

/// Row-major, one row a token; a head is a block of columns.
template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A writable view of a Matrix or of a block of its columns.
template <class Scalar>
using MatrixRef = Eigen::Ref<Matrix<Scalar>>;

/// A readable view of a Matrix or of a block of its columns.
template <class Scalar>
using ConstMatrixRef = Eigen::Ref<const Matrix<Scalar>>;

/// Any Eigen matrix, map, block or expression of floating-point (or complex) numbers.
template <class T>
concept RealMatrix = std::derived_from<std::remove_cvref_t<T>, Eigen::MatrixBase<std::remove_cvref_t<T>>> &&
    !std::is_integral_v<typename std::remove_cvref_t<T>::Scalar>;

template <class T>
using scalar_of = typename std::remove_cvref_t<T>::Scalar;

/// All arguments compute in one scalar type; mixing float and double is a mistake, not a conversion.
template <class First, class... Rest>
concept SameScalar = (std::same_as<scalar_of<First>, scalar_of<Rest>> && ...);

/// What a layer reads: rows are tokens. A Matrix computes; an autograd variable records.
template <class T>
concept Sequence = requires(const T& x) {
  { x.rows() } -> std::convertible_to<Index>;
  { x.cols() } -> std::convertible_to<Index>;
};

}  // namespace headwise
