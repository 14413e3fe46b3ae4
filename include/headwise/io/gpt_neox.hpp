#pragma once

#include <headwise/io/model_folder.hpp>
#include <headwise/io/rope_parameters.hpp>
#include <headwise/model/decoder.hpp>

#include <string>

namespace headwise::io {

/// A GPT-NeoX or Pythia checkpoint: partial rotary positions, attention and feed-forward in parallel, query,
/// key and value fused head by head. Throws FormatError for a setting that the decoder does not have, and as
/// load_state_dict does.
template <class Scalar = float>
model::Decoder<Scalar> load_gpt_neox(const std::string& path) {
  const ModelFolder folder(path, "gpt_neox");
  const Config& config = folder.config();
  const Index d_model = folder.size("hidden_size"), heads = folder.size("num_attention_heads");
  const Index head_dim = d_model / heads;
  const bool parallel = config.boolean("use_parallel_residual", true),
             bias = config.boolean("attention_bias", true);
  model::Decoder<Scalar> decoder(
      {.vocab_size = folder.size("vocab_size"),
       .d_model = d_model,
       .layers = folder.size("num_hidden_layers"),
       .heads = heads,
       .d_ff = folder.size("intermediate_size"),
       .rotary = rotary_of(folder, head_dim,
                           {.partial = 0.25, .theta_key = "rotary_emb_base", .partial_key = "rotary_pct"}),
       .wiring = parallel ? layer::Wiring::parallel : layer::Wiring::pre_norm,
       .norm_eps = config.number("layer_norm_eps", 1e-5),
       .activation = folder.activation("hidden_act", "gelu"),
       .input_bias = bias,
       .output_bias = bias,
       .tied_head = config.boolean("tie_word_embeddings", false)},
      layer::Initial::zeros());
  const std::string layer = "gpt_neox.layers.*.", fused = layer + "attention.query_key_value.*";
  const auto part = [&](Index n) { return part_of_each_head(n, 3, heads, head_dim); };
  const NameRules names{{"embedding.tokens.weight", "gpt_neox.embed_in.weight"},
                        {"layers.*.attention_norm.*", layer + "input_layernorm.*"},
                        {"layers.*.attention.query.*", fused, part(0)},
                        {"layers.*.attention.key.*", fused, part(1)},
                        {"layers.*.attention.value.*", fused, part(2)},
                        {"layers.*.attention.output.*", layer + "attention.dense.*"},
                        {"layers.*.feed_forward_norm.*", layer + "post_attention_layernorm.*"},
                        {"layers.*.feed_forward.up.*", layer + "mlp.dense_h_to_4h.*"},
                        {"layers.*.feed_forward.down.*", layer + "mlp.dense_4h_to_h.*"},
                        {"layers.norm.*", "gpt_neox.final_layer_norm.*"},
                        {"head.weight", "embed_out.weight"}};
  LoadOptions options{.ignored = {layer + "attention.bias", layer + "attention.masked_bias",
                                  layer + "attention.rotary_emb.inv_freq"}};
  if (decoder.options().tied_head) options.ties = {{"gpt_neox.embed_in.weight", "embed_out.weight"}};
  load_state_dict(decoder, folder.weights(), names, options);
  return decoder;
}

}  // namespace headwise::io
