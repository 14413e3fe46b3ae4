#pragma once

#include <headwise/model/generate.hpp>

#include "golden/model_case.hpp"

#include <span>
#include <utility>
#include <vector>

/// What the golden tests of all decoders ask of a decoder with a cache.
namespace headwise::golden {

/// Token by token, with a cache, the logits are those of the whole text.
template <class Scalar, class Score, class Weight>
void check_steps(const model::Decoder<Scalar, Score, Weight>& decoder, const Case& each) {
  const auto all = ids(each, "in.input_ids");
  const RaggedRows rows = rows_of(each, "in.input_ids");
  const Index length = rows[0].size();
  Matrix<Scalar> logits(rows.rows(), decoder.options().vocab_size);
  typename model::Decoder<Scalar, Score, Weight>::Cache cache;
  for (Index t = 0; t < length; ++t) {
    std::vector<TokenId> tokens;
    for (Index s = 0; s < rows.sequences(); ++s) tokens.push_back(all[std::size_t(rows[s].begin + t)]);
    auto [states, longer] =
        decoder.step(tokens, std::move(cache), {.query_rows = RaggedRows::uniform(rows.sequences(), 1)});
    cache = std::move(longer);
    const Matrix<Scalar> step = decoder.logits(states);
    for (Index s = 0; s < rows.sequences(); ++s) logits.row(rows[s].begin + t) = step.row(s);
  }
  EXPECT_TRUE(agrees(logits, each, "out.logits"));
}

/// The expected ids begin with the prompt: as many tokens as they have in common with the input, here 5 as
/// the manifest says. Each text alone, and both as one batch.
template <class Scalar, class Score, class Weight>
void check_greedy(const model::Decoder<Scalar, Score, Weight>& decoder, const Case& each) {
  if (!each.has("out.greedy_ids")) return;
  constexpr std::size_t prompt_length = 5;
  const Tensor& expected = each.tensor("out.greedy_ids");
  const std::size_t length = std::size_t(expected.dim(1));
  const auto all = ids(each, "out.greedy_ids");
  std::vector<std::vector<TokenId>> prompts, continuations;
  for (Index s = 0; s < expected.dim(0); ++s) {
    const auto begin = all.begin() + s * expected.dim(1);
    prompts.emplace_back(begin, begin + prompt_length);
    continuations.emplace_back(begin + prompt_length, begin + Index(length));
  }
  const model::GenerateOptions options{.new_tokens = Index(length - prompt_length)};
  EXPECT_EQ(model::generate_greedy(decoder, prompts, options), continuations);
  for (std::size_t s = 0; s < prompts.size(); ++s) {
    EXPECT_EQ(model::generate_greedy(decoder, std::span<const TokenId>(prompts[s]), options),
              continuations[s]);
  }
}

}  // namespace headwise::golden
