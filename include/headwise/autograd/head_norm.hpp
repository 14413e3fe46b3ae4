#pragma once

#include <headwise/attention/head_norm.hpp>
#include <headwise/autograd/record.hpp>

namespace headwise::autograd {

/// Every head of every row at length one, recorded: see headwise::unit_heads.   x [n, heads * head_dim]
template <class Scalar>
Var<Scalar> unit_heads(const Var<Scalar>& x, Index heads, double epsilon = 0) {
  return x.tape().record(headwise::unit_heads(x.value(), heads, epsilon), {x},
                         [x, heads, epsilon](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                           sweep.add(x, headwise::unit_heads_backward(x.value(), d, heads, epsilon));
                         });
}

/// Every head of every row with mean 0 and variance 1, recorded: see headwise::standard_heads.
template <class Scalar>
Var<Scalar> standard_heads(const Var<Scalar>& x, Index heads, double epsilon = 0) {
  return x.tape().record(headwise::standard_heads(x.value(), heads, epsilon), {x},
                         [x, heads, epsilon](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                           sweep.add(x, headwise::standard_heads_backward(x.value(), d, heads, epsilon));
                         });
}

}  // namespace headwise::autograd
