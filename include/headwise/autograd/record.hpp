#pragma once

#include <headwise/autograd/tape.hpp>
#include <headwise/core/lanes.hpp>

#include <array>
#include <concepts>
#include <type_traits>

/// What recording verbs have in common.
namespace headwise::autograd {

template <class T>
inline constexpr bool is_var = false;
template <class Scalar>
inline constexpr bool is_var<Var<Scalar>> = true;

/// Operands of a verb of which at least one is a variable: it records. The others are parameters, which
/// become leaves, and matrices, which are constants.
template <class... Operands>
concept Recorded = (is_var<Operands> || ...);

/// What an attention returns on a tape when nothing reads its log-sum-exp: output [q_rows, heads *
/// value_dim].
template <class Scalar>
struct AttendedOutput {
  Var<Scalar> output;
};

namespace detail {

template <class First, class... Rest>
auto& tape_of(const First& first, const Rest&... rest) noexcept {
  if constexpr (is_var<First>) {
    return first.tape();
  } else {
    return tape_of(rest...);
  }
}

template <class Scalar>
Var<Scalar> as_var(Tape<Scalar>& tape, const std::type_identity_t<Var<Scalar>>& x) {
  if (&x.tape() != &tape)
    throw ShapeError("autograd: a variable is of another tape, expected one tape a step");
  return x;
}
template <class Scalar>
Var<Scalar> as_var(Tape<Scalar>& tape, const std::type_identity_t<Parameter<Scalar>>& parameter) {
  return tape.parameter(parameter);
}
template <class Scalar, class Derived>
Var<Scalar> as_var(Tape<Scalar>& tape, const Eigen::MatrixBase<Derived>& matrix) {
  static_assert(std::same_as<typename Derived::Scalar, Scalar>,
                "a verb's operands must have one scalar type");
  return tape.constant(Matrix<Scalar>(matrix));
}

/// Each operand as a variable of the one tape.
template <class... Operands>
auto as_vars(const Operands&... operands) {
  auto& tape = tape_of(operands...);
  using Scalar = scalar_of<decltype(tape)>;
  return std::array<Var<Scalar>, sizeof...(Operands)>{as_var<Scalar>(tape, operands)...};
}

/// The sum of all rows, [1, m]: the gradient of a row that served them all.
template <class Scalar>
Matrix<Scalar> column_sums(const Matrix<Scalar>& x) {
  Matrix<Scalar> sums = Matrix<Scalar>::Zero(1, x.cols());
  for (Index row = 0; row < x.rows(); ++row)
    combine_lanes(sums.data(), x.data() + row * x.cols(), x.cols(), [](Scalar a, Scalar b) { return a + b; });
  return sums;
}

}  // namespace detail

}  // namespace headwise::autograd
