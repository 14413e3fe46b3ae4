#pragma once

#include <headwise/io/model_folder.hpp>
#include <headwise/io/rope_parameters.hpp>
#include <headwise/model/decoder.hpp>

#include <string>

namespace headwise::io {

/// A Llama checkpoint: grouped keys, rotary positions with any of the published scalings, SwiGLU, RMSNorm.
/// Throws FormatError for a setting that the decoder does not have, and as load_state_dict does.
template <class Scalar = float>
model::Decoder<Scalar> load_llama(const std::string& path) {
  const ModelFolder folder(path, "llama");
  const Config& config = folder.config();
  const Index d_model = folder.size("hidden_size"), heads = folder.size("num_attention_heads");
  const Index head_dim = folder.size("head_dim", d_model / heads);
  const bool bias = config.boolean("attention_bias", false);
  model::Decoder<Scalar> decoder({.vocab_size = folder.size("vocab_size"),
                                  .d_model = d_model,
                                  .layers = folder.size("num_hidden_layers"),
                                  .heads = heads,
                                  .kv_heads = folder.size("num_key_value_heads", heads),
                                  .head_dim = head_dim,
                                  .d_ff = folder.size("intermediate_size"),
                                  .rotary = rotary_of(folder, head_dim),
                                  .norm = layer::NormKind::rms,
                                  .norm_eps = config.number("rms_norm_eps", 1e-6),
                                  .activation = folder.activation("hidden_act", "silu"),
                                  .gated = true,
                                  .input_bias = bias,
                                  .output_bias = bias,
                                  .feed_forward_bias = config.boolean("mlp_bias", false),
                                  .tied_head = config.boolean("tie_word_embeddings", false)},
                                 layer::Initial::zeros());
  const NameRules names{
      {"embedding.tokens.weight", "model.embed_tokens.weight"},
      {"layers.*.attention_norm.weight", "model.layers.*.input_layernorm.weight"},
      {"layers.*.attention.query.*", "model.layers.*.self_attn.q_proj.*"},
      {"layers.*.attention.key.*", "model.layers.*.self_attn.k_proj.*"},
      {"layers.*.attention.value.*", "model.layers.*.self_attn.v_proj.*"},
      {"layers.*.attention.output.*", "model.layers.*.self_attn.o_proj.*"},
      {"layers.*.feed_forward_norm.weight", "model.layers.*.post_attention_layernorm.weight"},
      {"layers.*.feed_forward.*.*", "model.layers.*.mlp.*_proj.*"},
      {"layers.norm.weight", "model.norm.weight"},
      {"head.weight", "lm_head.weight"}};
  LoadOptions options{.ignored = {"model.layers.*.self_attn.rotary_emb.inv_freq"}};
  if (decoder.options().tied_head) options.ties = {{"model.embed_tokens.weight", "lm_head.weight"}};
  load_state_dict(decoder, folder.weights(), names, options);
  return decoder;
}

}  // namespace headwise::io
