#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/core/random.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace headwise::model {

struct SampleOptions {
  double temperature = 1;  ///< of the softmax; 0 always takes the largest logit
  Index top_k = 0;         ///< only among so many of the largest; 0 means all
  double top_p = 1;        ///< only among the fewest that together have this much probability
};

/// Draws the next token of a text from its logits.
///
///     p = softmax(logits / temperature), cut to the top_k largest, then to the fewest whose sum reaches
///     top_p
///
///   logits [1, vocab_size], any numbers -> a column. Of equal logits the lower column comes first.
/// Throws ShapeError when there is not one row of one column or more, temperature or top_k is negative, or
/// top_p is not in (0, 1]. Cost: O(vocab_size log vocab_size) at most. Paper: Fan et al., "Hierarchical
/// Neural Story Generation", 2018, section 5.1, for top_k; Holtzman et al., "The Curious Case of Neural Text
/// Degeneration", 2020, section 3.1, for top_p.
template <RealMatrix X>
TokenId sample(const X& logits, const SampleOptions& options, Rng& rng) {
  expect_equal("sample: rows of logits", logits.rows(), 1);
  expect_positive("sample: columns of logits", logits.cols());
  expect_not_negative("sample: top_k", options.top_k);
  if (!(options.temperature >= 0))
    fail_shape("sample: temperature", std::to_string(options.temperature), "0 or more");
  if (!(options.top_p > 0 && options.top_p <= 1)) {
    fail_shape("sample: top_p", std::to_string(options.top_p), "above 0, at most 1");
  }
  std::vector<std::pair<double, TokenId>>
      choices;  // -logit, so that the usual order puts the likeliest first
  for (Index column = 0; column < logits.cols(); ++column)
    choices.emplace_back(-double(logits(0, column)), TokenId(column));
  const Index all = Index(choices.size()), kept = options.temperature == 0 ? 1
                                                  : options.top_k == 0     ? all
                                                                           : std::min(options.top_k, all);
  std::partial_sort(choices.begin(), choices.begin() + kept, choices.end());
  choices.resize(std::size_t(kept));
  if (kept == 1) return choices.front().second;

  std::vector<double> weights;
  double sum = 0;
  for (const auto& [negated, token] : choices) {
    weights.push_back(std::exp((choices.front().first - negated) / options.temperature));
    sum += weights.back();
  }
  std::size_t count = 0;
  double mass = 0;
  while (count < weights.size() && (count == 0 || mass < options.top_p * sum)) mass += weights[count++];
  double drawn = rng.unit() * mass;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    drawn -= weights[i];
    if (drawn < 0) return choices[i].second;
  }
  return choices[count - 1].second;
}

}  // namespace headwise::model
