#pragma once

#include <headwise/autograd/tape.hpp>
#include <headwise/layer/stop_gradient.hpp>

namespace headwise::autograd {

/// The same numbers, not copied, through which no gradient passes.   x [n, m] -> [n, m]
template <class Scalar>
Var<Scalar> stop_gradient(const Var<Scalar>& x) {
  return x.tape().borrowed(x.value(), false);
}

}  // namespace headwise::autograd
