#pragma once

#include <headwise/attention/strided_backward.hpp>
#include <headwise/autograd/attend.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace headwise::autograd {

/// Both halves of the strided pattern in one head, recorded as one node: see headwise::attend_strided.
///
/// Arguments as autograd::attend: query, key, value and the learned numbers of the score may be variables,
/// parameters or matrices. It keeps one number a row and head. Cost: backward 2.5 times forward.
template <class Q, class K, class V, MaskPolicy Mask = mask::None, class Score = score::None>
requires Recorded<Q, K, V>
auto attend_strided(Index stride, const Q& query, const K& key, const V& value,
                    const AttendOptions& options = {}, const Mask& mask = {}, const Score& score = {}) {
  const auto vars = detail::as_vars(query, key, value);
  using Scalar = scalar_of<decltype(vars[0])>;
  Tape<Scalar>& tape = vars[0].tape();
  std::vector<Var<Scalar>> operands(vars.begin(), vars.end());
  const auto of_values = detail::score_of_values<Scalar>(tape, score, operands);
  Attended<Scalar> attended = headwise::attend_strided(stride, vars[0].value(), vars[1].value(),
                                                       vars[2].value(), options, mask, of_values);
  const std::size_t node = tape.size();
  return AttendedOutput<Scalar>{tape.record(
      std::move(attended.output), operands,
      [stride, operands, options, mask, of_values, node, lse = std::move(attended.lse)](
          Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
        const Attended<Scalar> result{operands[0].tape().value(node), lse};
        detail::add_gradients(
            sweep, operands,
            headwise::attend_strided_backward(stride, operands[0].value(), operands[1].value(),
                                              operands[2].value(), result, d, options, mask, of_values));
      })};
}

}  // namespace headwise::autograd
