#pragma once

#include <headwise/model/decoder.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace headwise::model {

/// -log softmax(logits)[target] of each row, summed in double.   logits [n, vocab_size], targets [n] -> [n]
/// Throws ShapeError when the lengths differ or a target is no column.
template <RealMatrix X>
std::vector<double> negative_log_likelihood(const X& logits, std::span<const TokenId> targets) {
  expect_equal("negative_log_likelihood: targets", Index(targets.size()), logits.rows());
  std::vector<double> result;
  for (Index row = 0; row < logits.rows(); ++row) {
    const Index target = Index(targets[std::size_t(row)]);
    if (target < 0 || target >= logits.cols()) {
      fail_shape("negative_log_likelihood: targets[" + std::to_string(row) + "]", std::to_string(target),
                 "a column, 0 to " + std::to_string(logits.cols() - 1));
    }
    const double largest = double(logits.row(row).maxCoeff());
    double sum = 0;
    for (Index column = 0; column < logits.cols(); ++column)
      sum += std::exp(double(logits(row, column)) - largest);
    result.push_back(largest + std::log(sum) - double(logits(row, target)));
  }
  return result;
}

/// The negative log-likelihood of every token of a text but the first, each given all before it that the mask
/// lets it see: exp of their mean is the text's perplexity.   ids [n], n > 0 -> [n - 1] Throws ShapeError
/// when there is no token, and as the decoder does. Cost: one pass over the text, and the logits of
/// `together` tokens at a time, which bounds the memory.
template <class Scalar, class Score, class Weight, class Mask = mask::Causal>
std::vector<double> negative_log_likelihood(const Decoder<Scalar, Score, Weight>& decoder,
                                            std::span<const TokenId> ids, const AttendOptions& options = {},
                                            const Mask& mask = {}, Index together = 128) {
  expect_positive("negative_log_likelihood: tokens", Index(ids.size()));
  expect_positive("negative_log_likelihood: together", together);
  const Matrix<Scalar> states = decoder.states(ids, options, mask);
  std::vector<double> result;
  for (Index begin = 0; begin + 1 < states.rows(); begin += together) {
    const Index count = std::min(together, states.rows() - 1 - begin);
    const Matrix<Scalar> some = states.middleRows(begin, count);
    const auto each = negative_log_likelihood(decoder.logits(some, options.executor),
                                              ids.subspan(std::size_t(begin) + 1, std::size_t(count)));
    result.insert(result.end(), each.begin(), each.end());
  }
  return result;
}

}  // namespace headwise::model
