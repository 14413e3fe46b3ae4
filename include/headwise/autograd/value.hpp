#pragma once

#include <headwise/autograd/record.hpp>

#include <utility>

namespace headwise::autograd {

/// A number made of one matrix, recorded: how losses, which know no tape, meet one.   x [n, m] -> [1, 1]
///
/// f(x, gradient) returns the number and, where gradient is not null, writes its derivative, [n, m], there.
/// Both are computed at once, and the derivative is kept until the tape ends.
template <class Scalar, class F>
Var<Scalar> scalar_value(const Var<Scalar>& x, const F& f) {
  Matrix<Scalar> gradient;
  const Scalar value = f(x.value(), x.learns() ? &gradient : nullptr);
  return x.tape().record(Matrix<Scalar>::Constant(1, 1, value), {x},
                         [x, gradient = std::move(gradient)](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                           sweep.add(x, d(0, 0) * gradient);
                         });
}

}  // namespace headwise::autograd
