#pragma once

#include <headwise/model/decoder.hpp>

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace headwise::model {

struct GenerateOptions {
  Index new_tokens = 32;          ///< at most
  std::optional<TokenId> stop{};  ///< a text ends with this token, which is kept
  Executor executor{};            ///< serial when not given
};

/// The column with the largest number of each row; the lowest of equals.   x [n, m], m > 0 -> [n]
template <RealMatrix X>
std::vector<TokenId> largest_columns(const X& x) {
  std::vector<TokenId> result(std::size_t(x.rows()), 0);
  for (Index row = 0; row < x.rows(); ++row) {
    Index best = 0;
    for (Index column = 1; column < x.cols(); ++column)
      if (x(row, column) > x(row, best)) best = column;
    result[std::size_t(row)] = TokenId(best);
  }
  return result;
}

/// Greedy decoding of a ragged batch: the prompts in one call, then one token a text and step, with a cache.
/// Returns the new tokens of each text. A text that met `stop` takes no further part.
/// Throws ShapeError when a prompt is empty, new_tokens is negative, or as the decoder does.
/// Cost: a step reads every weight once, and the cached keys and values of each text.
template <class Scalar, class Score, class Weight, class Mask = mask::Causal>
std::vector<std::vector<TokenId>> generate_greedy(const Decoder<Scalar, Score, Weight>& decoder,
                                                  const std::vector<std::vector<TokenId>>& prompts,
                                                  const GenerateOptions& options = {},
                                                  const Mask& mask = {}) {
  expect_not_negative("generate_greedy: new_tokens", options.new_tokens);
  std::vector<std::vector<TokenId>> result(prompts.size()), next = prompts;
  for (std::size_t s = 0; s < prompts.size(); ++s) {
    expect_positive("generate_greedy: length of prompt " + std::to_string(s), Index(prompts[s].size()),
                    "begin with the model's start token if there is nothing else");
  }
  typename Decoder<Scalar, Score, Weight>::Cache cache;
  for (Index step = 0; step < options.new_tokens; ++step) {
    std::vector<TokenId> ids;
    std::vector<Index> lengths, last_rows;
    for (const auto& tokens : next) {
      ids.insert(ids.end(), tokens.begin(), tokens.end());
      lengths.push_back(Index(tokens.size()));
      if (!tokens.empty()) last_rows.push_back(Index(ids.size()) - 1);
    }
    if (ids.empty()) break;
    auto [states, longer] =
        decoder.step(ids, std::move(cache),
                     {.query_rows = RaggedRows::from_lengths(lengths), .executor = options.executor}, mask);
    cache = std::move(longer);
    const auto chosen = largest_columns(decoder.logits(gather_rows(states, last_rows), options.executor));
    std::size_t row = 0;
    for (std::size_t s = 0; s < next.size(); ++s) {
      if (next[s].empty()) continue;
      const TokenId token = chosen[row++];
      result[s].push_back(token);
      next[s].clear();
      if (token != options.stop) next[s].push_back(token);
    }
  }
  return result;
}

/// Greedy decoding of one text.   prompt [n], n > 0 -> the new tokens
template <class Scalar, class Score, class Weight, class Mask = mask::Causal>
std::vector<TokenId> generate_greedy(const Decoder<Scalar, Score, Weight>& decoder,
                                     std::span<const TokenId> prompt, const GenerateOptions& options = {},
                                     const Mask& mask = {}) {
  const std::vector<std::vector<TokenId>> prompts{{prompt.begin(), prompt.end()}};
  return generate_greedy(decoder, prompts, options, mask).front();
}

}  // namespace headwise::model
