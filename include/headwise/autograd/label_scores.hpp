#pragma once

#include <headwise/attention/label_scores.hpp>
#include <headwise/autograd/record.hpp>

#include <span>
#include <utility>
#include <vector>

namespace headwise::autograd {

/// How much each query has in common with each of the listed labels, recorded: see headwise::label_scores.
///
/// Query and table may be variables, parameters or matrices, at least one a variable.
template <class Q, class T>
requires Recorded<Q, T>
auto label_scores(const Q& query, const T& table, std::span<const Index> labels, Index heads = 1) {
  const auto operands = detail::as_vars(query, table);
  using Scalar = scalar_of<decltype(operands[0])>;
  return operands[0].tape().record(
      headwise::label_scores(operands[0].value(), operands[1].value(), labels, heads), operands,
      [operands, heads, labels = std::vector<Index>(labels.begin(), labels.end())](Sweep<Scalar>& sweep,
                                                                                   const Matrix<Scalar>& d) {
        auto gradients = headwise::label_scores_backward(operands[0].value(), operands[1].value(),
                                                         std::span<const Index>(labels), d, heads);
        sweep.add(operands[0], std::move(gradients.query));
        sweep.add(operands[1], std::move(gradients.table));
      });
}

}  // namespace headwise::autograd
