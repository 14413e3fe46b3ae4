#pragma once

#include <headwise/io/model_folder.hpp>
#include <headwise/model/decoder.hpp>
#include <headwise/score/alibi.hpp>

#include <string>

namespace headwise::io {

/// A BLOOM checkpoint, names with or without "transformer.": ALiBi, a norm after the embedding, query, key
/// and value fused head by head. Throws FormatError for a setting that the decoder does not have, and as
/// load_state_dict does.
template <class Scalar = float>
model::Decoder<Scalar, score::Alibi<>> load_bloom(const std::string& path) {
  const ModelFolder folder(path, "bloom");
  const Config& config = folder.config();
  folder.expect_flag("apply_residual_connection_post_layernorm", false);
  const Index d_model = folder.size(config.contains("hidden_size") ? "hidden_size" : "n_embed");
  const Index heads = folder.size(config.contains("n_head") ? "n_head" : "num_attention_heads");
  model::Decoder<Scalar, score::Alibi<>> decoder(
      {.vocab_size = folder.size("vocab_size"),
       .d_model = d_model,
       .layers = folder.size(config.contains("n_layer") ? "n_layer" : "num_hidden_layers"),
       .heads = heads,
       .d_ff = 4 * d_model,
       .norm_eps = config.number("layer_norm_epsilon", 1e-5),
       .embedding_norm = true,
       .activation = layer::Activation::gelu_tanh,
       .tied_head = config.boolean("tie_word_embeddings", true)},
      layer::Initial::zeros(), score::Alibi(heads));
  const std::string prefix = folder.prefix_of("transformer.", "word_embeddings.weight"),
                    layer = prefix + "h.*.";
  const std::string fused = layer + "self_attention.query_key_value.*";
  const auto part = [&](Index n) { return part_of_each_head(n, 3, heads, d_model / heads); };
  const NameRules names{{"embedding.tokens.weight", prefix + "word_embeddings.weight"},
                        {"embedding.norm.*", prefix + "word_embeddings_layernorm.*"},
                        {"layers.*.attention_norm.*", layer + "input_layernorm.*"},
                        {"layers.*.attention.query.*", fused, part(0)},
                        {"layers.*.attention.key.*", fused, part(1)},
                        {"layers.*.attention.value.*", fused, part(2)},
                        {"layers.*.attention.output.*", layer + "self_attention.dense.*"},
                        {"layers.*.feed_forward_norm.*", layer + "post_attention_layernorm.*"},
                        {"layers.*.feed_forward.up.*", layer + "mlp.dense_h_to_4h.*"},
                        {"layers.*.feed_forward.down.*", layer + "mlp.dense_4h_to_h.*"},
                        {"layers.norm.*", prefix + "ln_f.*"},
                        {"head.weight", "lm_head.weight"}};
  LoadOptions options;
  if (decoder.options().tied_head) options.ties = {{prefix + "word_embeddings.weight", "lm_head.weight"}};
  load_state_dict(decoder, folder.weights(), names, options);
  return decoder;
}

}  // namespace headwise::io
