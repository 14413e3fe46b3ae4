#pragma once

#include <headwise/mask/causal.hpp>
#include <headwise/model/decoder.hpp>

#include <gtest/gtest.h>

#include "layer/parameters.hpp"
#include "support/check.hpp"

#include <span>
#include <utility>
#include <vector>

/// What tests ask of a decoder that goes on from a cache.
namespace headwise::check {

inline model::Decoder<double> small_rotary_decoder() {
  model::Decoder<double> decoder({.vocab_size = 11,
                                  .d_model = 8,
                                  .layers = 2,
                                  .heads = 4,
                                  .kv_heads = 2,
                                  .d_ff = 12,
                                  .rotary = position::Rotary({.head_dim = 2})},
                                 layer::Initial::zeros());
  randomise(decoder, 3);
  return decoder;
}

/// A prompt, then token by token, against one call over the whole text. What a mask hides from a token must
/// not hang on tokens that come later; all that are asked here see no token but earlier ones.
template <class Mask, class Score>
void expect_steps_are_whole(const Mask& mask, const Score& score) {
  const auto decoder = small_rotary_decoder();
  const std::vector<TokenId> ids{3, 10, 0, 3, 7, 1, 2, 9, 9, 4, 5, 6};
  const Matrix<double> whole = decoder.states(ids, {}, mask, score);
  model::Decoder<double>::Cache cache;
  std::size_t row = 0;
  for (const std::size_t count : std::vector<std::size_t>{5, 1, 1, 3, 1, 1}) {
    const std::span<const TokenId> next(ids.data() + row, count);
    auto [states, longer] = decoder.step(next, std::move(cache), {}, mask, score);
    EXPECT_TRUE(near(states, whole.middleRows(Index(row), Index(count)), 1e-12)) << "row " << row;
    cache = std::move(longer);
    row += count;
  }
  ASSERT_EQ(row, ids.size());
}

}  // namespace headwise::check
