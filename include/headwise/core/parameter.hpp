#pragma once

#include <headwise/core/matrix.hpp>

#include <concepts>
#include <utility>

namespace headwise {

/// One learned matrix. It holds no gradient: backward returns gradients by value, parameters stay const.
template <class Scalar_>
struct Parameter {
  using Scalar = Scalar_;

  Matrix<Scalar> value;

  Index rows() const noexcept { return value.rows(); }
  Index cols() const noexcept { return value.cols(); }
};

/// The numbers inside a matrix or a parameter: what computing verbs read.
template <class Scalar>
const Matrix<Scalar>& value_of(const Parameter<Scalar>& parameter) noexcept {
  return parameter.value;
}

template <class Derived>
const Derived& value_of(const Eigen::MatrixBase<Derived>& matrix) noexcept {
  return matrix.derived();
}

}  // namespace headwise
