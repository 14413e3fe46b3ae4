#pragma once

#include <headwise/autograd/record.hpp>
#include <headwise/position/rotary.hpp>

#include <span>
#include <utility>

namespace headwise::autograd {

/// Query or key with every head turned, recorded: the gradient is turned back by the same angles.
///   x [n, heads * head_dim], table of n positions -> the same shape
/// An executor is kept until the tape ends, for backward, and must live as long.
template <class Scalar>
Var<Scalar> rotate(const Var<Scalar>& x, position::RotaryTable<math::real_of<Scalar>> table, Index heads,
                   const Executor& executor = {}) {
  Matrix<Scalar> turned = position::rotate(x.value(), table, heads, executor);
  return x.tape().record(
      std::move(turned), {x},
      [x, heads, executor, table = std::move(table)](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
        sweep.add(x, position::rotate_backward(d, table, heads, executor));
      });
}

/// The same, the table made on the way.   positions [n]
template <class Scalar>
Var<Scalar> rotate(const Var<Scalar>& x, const position::Rotary& rotary, Index heads,
                   std::span<const Position> positions) {
  return rotate(x, rotary.table<math::real_of<Scalar>>(positions), heads);
}

/// The same for the positions first, first + 1, ...
template <class Scalar>
Var<Scalar> rotate(const Var<Scalar>& x, const position::Rotary& rotary, Index heads, Index first = 0) {
  return rotate(x, rotary, heads, std::span<const Position>(position::consecutive(x.rows(), first)));
}

}  // namespace headwise::autograd
