#pragma once

#include <headwise/model/generate.hpp>

#include "golden/smollm2_case.hpp"

#include <string>
#include <vector>

namespace headwise::golden {

/// The residual stream after some layers, and the logits, of three prompts.
template <class Score, class Weight>
void check_smollm2_prompts(const model::Decoder<float, Score, Weight>& decoder) {
  const Tensors prompts = smollm2_tensors("prompts");
  for (const std::string prompt : {"france", "fibonacci", "chat_gravity"}) {
    SCOPED_TRACE(prompt);
    const auto at = [&](const std::string& name) -> const Tensor& {
      return prompts.at("out." + prompt + "." + name);
    };
    const auto ids = tokens_of(prompts.at("in." + prompt + ".ids"));
    const Matrix<float> states =
        decoder.states(ids, {}, mask::Causal{}, decoder.score(), [&](Index layer, const Matrix<float>& x) {
          if (layer == 1 || layer == 15) {
            EXPECT_TRUE(rows_agree(x, at("hidden_" + std::to_string(layer)), 1e-4)) << layer;
          }
          if (layer == 30) {
            EXPECT_TRUE(rows_agree(x, at("hidden_30_before_norm"), 1e-4));
          }
        });
    EXPECT_TRUE(rows_agree(states, at("hidden_final"), 1e-4));
    const Matrix<float> logits = decoder.logits(states);
    const Matrix<double> last = logits.bottomRows(1).template cast<double>();
    EXPECT_TRUE(match(last, as_rows(at("logits_last")), {.abs = 1e-3, .rel = 0}));
    if (prompts.contains("out." + prompt + ".logits")) {
      EXPECT_TRUE(match(logits.template cast<double>(), as_rows(at("logits")), {.abs = 1e-3, .rel = 0}));
    }
    const auto best = model::largest_columns(logits);
    for (std::size_t i = 0; i < best.size(); ++i) {
      if (at("top1_margin").values()[i] < 1e-3) continue;
      EXPECT_EQ(best[i], TokenId(at("top1").values()[i])) << i;
    }
  }
}

/// Four prompts continued by 32 tokens, with a cache. No step is a close call, as the files' README says.
template <class Score, class Weight>
void check_smollm2_greedy(const model::Decoder<float, Score, Weight>& decoder) {
  const Tensors greedy = smollm2_tensors("greedy");
  std::vector<std::vector<TokenId>> prompts, expected;
  for (const std::string prompt : {"france", "story", "fibonacci", "chat_gravity"}) {
    prompts.push_back(tokens_of(greedy.at("in." + prompt + ".ids")));
    expected.push_back(tokens_of(greedy.at("out." + prompt + ".ids")));
    for (const double margin : greedy.at("out." + prompt + ".margin").values()) ASSERT_GE(margin, 1e-3);
  }
  EXPECT_EQ(model::generate_greedy(decoder, prompts, {.new_tokens = 32}), expected);
}

}  // namespace headwise::golden
