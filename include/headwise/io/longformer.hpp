#pragma once

#include <headwise/io/bert.hpp>
#include <headwise/model/longformer.hpp>

#include <string>
#include <utility>
#include <vector>

namespace headwise::io {

namespace detail {

/// attention_window of each layer, which counts both sides; one number serves all layers.
inline std::vector<Index> longformer_reach(const ModelFolder& folder, Index layers) {
  const std::vector<Index> windows = folder.config().integers("attention_window");
  if (Index(windows.size()) != layers)
    folder.fail("attention_window", std::to_string(windows.size()) + " numbers",
                std::to_string(layers) + ", one for each of num_hidden_layers");
  std::vector<Index> reach;
  for (const Index window : windows) {
    if (window <= 0 || window % 2 != 0)
      folder.fail("attention_window", std::to_string(window), "a positive even number");
    reach.push_back(window / 2);
  }
  return reach;
}

inline model::LongformerOptions longformer_options(const ModelFolder& folder) {
  const model::EncoderOptions encoder = encoder_options(folder, 1, "gelu");
  const Index padding = folder.config().integer("pad_token_id", 1);
  if (padding < 0 || padding >= encoder.vocab_size)
    folder.fail("pad_token_id", std::to_string(padding), "a token, 0 to vocab_size - 1");
  std::vector<Index> reach = longformer_reach(folder, encoder.layers);
  return {.encoder = encoder,
          .reach = std::move(reach),
          .padding_id = TokenId(padding),
          .first_position = Position(padding + 1)};
}

}  // namespace detail

/// LongformerForMaskedLM, with attention_window as a list, one number a layer.
/// Throws FormatError for a setting that the model does not have, and as load_state_dict does.
template <class Scalar = float>
model::Longformer<Scalar> load_longformer_masked_lm(const std::string& path) {
  const ModelFolder folder(path, "longformer");
  folder.expect_flag("tie_word_embeddings", true);
  folder.expect_flag("is_encoder_decoder", false);
  const std::string prefix = folder.prefix_of("longformer.", "embeddings.word_embeddings.weight");
  const std::string ours = "encoder.layers.*.attention.", theirs = prefix + "encoder.layer.*.attention.self.";
  std::vector<NameRule> rules{{ours + "global_query.*", theirs + "query_global.*"},
                              {ours + "global_key.*", theirs + "key_global.*"},
                              {ours + "global_value.*", theirs + "value_global.*"}};
  model::Longformer<Scalar> result(detail::longformer_options(folder), layer::Initial::zeros());
  detail::load_masked_lm(result, folder, prefix,
                         {"lm_head.dense", "lm_head.layer_norm", "lm_head.bias", "lm_head.decoder"},
                         std::move(rules));
  return result;
}

}  // namespace headwise::io
