#pragma once

#include <headwise/io/bert.hpp>
#include <headwise/model/big_bird.hpp>

#include <string>
#include <utility>
#include <vector>

namespace headwise::io {

/// BigBirdForMaskedLM, of either attention_type: whether a call sees sparsely is said by its tables.
/// Throws FormatError for a setting that the model does not have, and as load_state_dict does.
template <class Scalar = float>
model::BigBird<Scalar> load_big_bird_masked_lm(const std::string& path) {
  const ModelFolder folder(path, "big_bird");
  folder.expect_flag("tie_word_embeddings", true);
  folder.expect_flag("is_decoder", false);
  folder.expect_flag("add_cross_attention", false);
  folder.expect_flag("rescale_embeddings", false);
  folder.expect_flag("use_bias", true);
  const model::BigBirdOptions options{.encoder = {.vocab_size = folder.size("vocab_size"),
                                                  .kinds = folder.size("type_vocab_size", 2),
                                                  .d_model = folder.size("hidden_size"),
                                                  .layers = folder.size("num_hidden_layers"),
                                                  .heads = folder.size("num_attention_heads"),
                                                  .d_ff = folder.size("intermediate_size"),
                                                  .positions = layer::InputPositions::learned,
                                                  .max_positions = folder.size("max_position_embeddings"),
                                                  .norm_eps = folder.config().number("layer_norm_eps", 1e-12),
                                                  .activation = folder.activation("hidden_act", "gelu_new")},
                                      .block_size = folder.size("block_size", 64),
                                      .random = folder.size("num_random_blocks", 3)};
  const std::string prefix = detail::bert_prefix(folder);
  std::vector<NameRule> rules = detail::bert_rules("encoder.", prefix);
  rules.push_back({"head.transform.*", "cls.predictions.transform.dense.*"});
  rules.push_back({"head.norm.*", "cls.predictions.transform.LayerNorm.*"});
  rules.push_back({"head.bias", "cls.predictions.bias"});
  model::BigBird<Scalar> result(options, layer::Initial::zeros());
  load_state_dict(
      result, folder.weights(), NameRules(std::move(rules)),
      {.ignored = {prefix + "embeddings.position_ids", prefix + "pooler.*", "cls.seq_relationship.*"},
       .ties = {{prefix + "embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"},
                {"cls.predictions.bias", "cls.predictions.decoder.bias"}}});
  return result;
}

}  // namespace headwise::io
