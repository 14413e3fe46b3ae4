#pragma once

#include <headwise/io/model_folder.hpp>
#include <headwise/model/decoder.hpp>

#include <string>

namespace headwise::io {

/// A GPT-2 checkpoint, names with or without "transformer.". Its weights are stored [in, out], query, key and
/// value fused in one. Throws FormatError for a setting that the decoder does not have, and as
/// load_state_dict does.
template <class Scalar = float>
model::Decoder<Scalar> load_gpt2(const std::string& path) {
  const ModelFolder folder(path, "gpt2");
  folder.expect_flag("scale_attn_weights", true);
  folder.expect_flag("scale_attn_by_inverse_layer_idx", false);
  folder.expect_flag("add_cross_attention", false);
  const Index d_model = folder.size("n_embd");
  model::Decoder<Scalar> decoder({.vocab_size = folder.size("vocab_size"),
                                  .d_model = d_model,
                                  .layers = folder.size("n_layer"),
                                  .heads = folder.size("n_head"),
                                  .d_ff = folder.size("n_inner", 4 * d_model),
                                  .positions = layer::InputPositions::learned,
                                  .max_positions = folder.size("n_positions"),
                                  .norm_eps = folder.config().number("layer_norm_epsilon", 1e-5),
                                  .activation = folder.activation("activation_function", "gelu_new"),
                                  .tied_head = folder.config().boolean("tie_word_embeddings", true)},
                                 layer::Initial::zeros());
  const std::string prefix = folder.prefix_of("transformer.", "wte.weight"), layer = prefix + "h.*.";
  const NameRules names{{"embedding.tokens.weight", prefix + "wte.weight"},
                        {"embedding.positions.table", prefix + "wpe.weight"},
                        {"layers.*.attention_norm.*", layer + "ln_1.*"},
                        {"layers.*.attention.query.*", layer + "attn.c_attn.*", fused_part(0, d_model), true},
                        {"layers.*.attention.key.*", layer + "attn.c_attn.*", fused_part(1, d_model), true},
                        {"layers.*.attention.value.*", layer + "attn.c_attn.*", fused_part(2, d_model), true},
                        {"layers.*.attention.output.*", layer + "attn.c_proj.*", {}, true},
                        {"layers.*.feed_forward_norm.*", layer + "ln_2.*"},
                        {"layers.*.feed_forward.up.*", layer + "mlp.c_fc.*", {}, true},
                        {"layers.*.feed_forward.down.*", layer + "mlp.c_proj.*", {}, true},
                        {"layers.norm.*", prefix + "ln_f.*"},
                        {"head.weight", "lm_head.weight"}};
  LoadOptions options{.ignored = {layer + "attn.bias", layer + "attn.masked_bias"}};
  if (decoder.options().tied_head) options.ties = {{prefix + "wte.weight", "lm_head.weight"}};
  load_state_dict(decoder, folder.weights(), names, options);
  return decoder;
}

}  // namespace headwise::io
