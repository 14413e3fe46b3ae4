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
  model::EncoderOptions encoder{.vocab_size = folder.size("vocab_size"),
                                .kinds = folder.size("type_vocab_size", 1),
                                .d_model = folder.size("hidden_size"),
                                .layers = folder.size("num_hidden_layers"),
                                .heads = folder.size("num_attention_heads"),
                                .d_ff = folder.size("intermediate_size"),
                                .positions = layer::InputPositions::learned,
                                .max_positions = folder.size("max_position_embeddings"),
                                .norm_eps = folder.config().number("layer_norm_eps", 1e-12),
                                .activation = folder.activation("hidden_act", "gelu")};
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
  for (NameRule& rule : detail::bert_rules("encoder.", prefix)) rules.push_back(std::move(rule));
  rules.push_back({"head.transform.*", "lm_head.dense.*"});
  rules.push_back({"head.norm.*", "lm_head.layer_norm.*"});
  rules.push_back({"head.bias", "lm_head.bias"});
  model::Longformer<Scalar> result(detail::longformer_options(folder), layer::Initial::zeros());
  load_state_dict(result, folder.weights(), NameRules(std::move(rules)),
                  {.ignored = {prefix + "embeddings.position_ids", prefix + "pooler.*"},
                   .ties = {{prefix + "embeddings.word_embeddings.weight", "lm_head.decoder.weight"},
                            {"lm_head.bias", "lm_head.decoder.bias"}}});
  return result;
}

}  // namespace headwise::io
