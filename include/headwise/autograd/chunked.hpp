#pragma once

#include <headwise/autograd/reversible.hpp>
#include <headwise/layer/chunked.hpp>

#include <algorithm>
#include <utility>

namespace headwise::autograd {

/// f of all rows, some at a time, as one node: see headwise::chunked. Backward computes f again, chunk by
/// chunk, and keeps nothing of a chunk but gradients.
///
/// f is copied and kept until the tape ends; what it refers to must live as long, and so must the parameters
/// it reads; it reads nothing else that learns.
template <class F, class Scalar>
Var<Scalar> chunked(const F& f, const Var<Scalar>& x, Index chunk_rows) {
  return x.tape().record_learned(headwise::chunked(f, x.value(), chunk_rows),
                                 [f, x, chunk_rows](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                                   Matrix<Scalar> d_x(x.rows(), x.cols());
                                   for (Index first = 0; first < x.rows(); first += chunk_rows) {
                                     const Index count = std::min(chunk_rows, x.rows() - first);
                                     const Matrix<Scalar> rows = x.value().middleRows(first, count);
                                     d_x.middleRows(first, count) =
                                         detail::repeated(
                                             sweep, x.tape(),
                                             [&](const Var<Scalar>& part) {
                                               return Var<Scalar>(headwise::detail::of_chunk(f, part, first));
                                             },
                                             rows, Matrix<Scalar>(d.middleRows(first, count)))
                                             .d_input;
                                   }
                                   sweep.add(x, std::move(d_x));
                                 });
}

}  // namespace headwise::autograd
