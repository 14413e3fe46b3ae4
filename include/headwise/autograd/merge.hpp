#pragma once

#include <headwise/attention/merge.hpp>
#include <headwise/autograd/attend.hpp>

#include <utility>

namespace headwise::autograd {

namespace detail {

/// The share of one part in the whole, for each row and head.
template <class Scalar>
Matrix<Scalar> shares(const Matrix<Scalar>& part_lse, const Matrix<Scalar>& lse) {
  Matrix<Scalar> result(lse.rows(), lse.cols());
  for (Index i = 0; i < lse.size(); ++i) result.data()[i] = kernel::share(part_lse.data()[i], lse.data()[i]);
  return result;
}

/// Of one part of merged outputs, with w its share:
///
///     d_output = w d,   d_lse = w sum over the head of d (part - whole)
template <class Scalar>
void pull_back_part(Sweep<Scalar>& sweep, const AttendedVar<Scalar>& part, const Matrix<Scalar>& whole,
                    const Matrix<Scalar>& share, const Matrix<Scalar>& d) {
  const Index heads = share.cols(), value_dim = heads > 0 ? d.cols() / heads : 0;
  const Matrix<Scalar>& output = part.output.value();
  Matrix<Scalar> d_output(d.rows(), d.cols()), d_lse(d.rows(), heads);
  for (Index i = 0; i < d.rows(); ++i) {
    for (Index head = 0; head < heads; ++head) {
      Scalar along(0);
      for (Index x = head * value_dim; x < (head + 1) * value_dim; ++x) {
        d_output(i, x) = share(i, head) * d(i, x);
        along += d_output(i, x) * (output(i, x) - whole(i, x));
      }
      d_lse(i, head) = along;
    }
  }
  sweep.add(part.output, std::move(d_output));
  sweep.add(part.lse, std::move(d_lse));
}

}  // namespace detail

/// Attention over two sets of keys joined into that over both, recorded: see headwise::merge.
///
///     output = w_a a.output + w_b b.output,   w = exp(part's lse - lse),   d_lse of a part = w d_lse
///
/// Both: output [q_rows, heads * value_dim], lse [q_rows, heads].
template <class Scalar>
AttendedVar<Scalar> merge(const AttendedVar<Scalar>& a, const AttendedVar<Scalar>& b) {
  Attended<Scalar> whole = headwise::merge(Attended<Scalar>{a.output.value(), a.lse.value()},
                                           Attended<Scalar>{b.output.value(), b.lse.value()});
  Matrix<Scalar> share_a = detail::shares(a.lse.value(), whole.lse);
  Matrix<Scalar> share_b = detail::shares(b.lse.value(), whole.lse);
  Tape<Scalar>& tape = a.output.tape();
  const std::size_t result = tape.size();
  const Var<Scalar> output =
      tape.record(std::move(whole.output), {a.output, a.lse, b.output, b.lse},
                  [a, b, share_a, share_b, result](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                    const Matrix<Scalar>& merged = a.output.tape().value(result);
                    detail::pull_back_part(sweep, a, merged, share_a, d);
                    detail::pull_back_part(sweep, b, merged, share_b, d);
                  });
  const Var<Scalar> lse = tape.record(std::move(whole.lse), {a.lse, b.lse},
                                      [a, b, share_a = std::move(share_a), share_b = std::move(share_b)](
                                          Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                                        sweep.add(a.lse, share_a.cwiseProduct(d));
                                        sweep.add(b.lse, share_b.cwiseProduct(d));
                                      });
  return {output, lse};
}

}  // namespace headwise::autograd
