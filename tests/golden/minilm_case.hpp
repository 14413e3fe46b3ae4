#pragma once

#include <headwise/io/wordpiece.hpp>

#include <gtest/gtest.h>

#include "golden/model_case.hpp"
#include "support/published.hpp"

#include <cstdlib>
#include <span>
#include <string>
#include <vector>

/// What the golden tests of the real sentence encoder ask, in float and in double.
namespace headwise::golden {

/// The tokens of each sentence without its padding.
inline std::vector<std::vector<TokenId>> real_tokens(const Case& each) {
  const auto all = ids(each, "in.input_ids");
  const auto real = flags(each, "in.attention_mask");
  const Index length = each.tensor("in.input_ids").dim(1);
  std::vector<std::vector<TokenId>> texts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (Index(i) % length == 0) texts.emplace_back();
    if (real[i]) texts.back().push_back(all[i]);
  }
  return texts;
}

/// Hidden states are given for some layers of some sentences, as out.hidden_<layer>.sentence_<n>.
template <class Encoder>
void check_hidden_states(const Encoder& encoder, const Case& each,
                         const std::vector<std::vector<TokenId>>& texts) {
  using Scalar = typename Encoder::Scalar;
  for (std::size_t n = 0; n < texts.size(); ++n) {
    const std::string sentence = ".sentence_" + std::to_string(n);
    if (!each.has("out.hidden_0" + sentence)) continue;
    encoder.states(texts[n], {}, {}, mask::None{}, score::None{}, [&](Index layer, const Matrix<Scalar>& x) {
      const std::string name = "out.hidden_" + std::to_string(layer) + sentence;
      if (!each.has(name)) return;
      EXPECT_TRUE(agrees(x, each, name)) << name;
    });
  }
}

/// Needs the weights: the folder that HEADWISE_MODEL_DIR names.
template <class Scalar>
void check_minilm(const Case& each) {
  const char* const folder = std::getenv("HEADWISE_MODEL_DIR");
  if (folder == nullptr) return skip(each, "HEADWISE_MODEL_DIR does not name the folder with its weights");
  const auto model = published::load_sentence_encoder<Scalar>(folder);
  const auto texts = real_tokens(each);
  check_hidden_states(model.encoder(), each, texts);
  const Matrix<double> got = model.embedded(texts).template cast<double>();
  EXPECT_TRUE(match(got, each.rows(expected_name<Scalar>(each, "out.embeddings")), {.abs = 1e-5, .rel = 0}));
}

}  // namespace headwise::golden
