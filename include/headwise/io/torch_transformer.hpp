#pragma once

#include <headwise/io/model_folder.hpp>
#include <headwise/model/encoder_decoder.hpp>

#include <string>

namespace headwise::io {

/// PyTorch's nn.Transformer: encoder and decoder over rows of numbers, without embedding or head.
///
/// config.json holds the constructor's arguments: d_model, nhead, num_encoder_layers, num_decoder_layers,
/// dim_feedforward, activation ("relu" or "gelu"), norm_first, layer_norm_eps, bias. Query, key and value are
/// fused one after the other. Throws FormatError for a setting that the model does not have, and as
/// load_state_dict does.
template <class Scalar = float>
model::EncoderDecoder<Scalar> load_torch_transformer(const std::string& path) {
  const ModelFolder folder(path, "Transformer");
  const Config& config = folder.config();
  const Index d_model = folder.size("d_model", 512);
  model::EncoderDecoder<Scalar> result(
      {.d_model = d_model,
       .heads = folder.size("nhead", 8),
       .encoder_layers = config.integer("num_encoder_layers", 6),
       .decoder_layers = config.integer("num_decoder_layers", 6),
       .d_ff = folder.size("dim_feedforward", 2048),
       .wiring = config.boolean("norm_first", false) ? layer::Wiring::pre_norm : layer::Wiring::post_norm,
       .norm_eps = config.number("layer_norm_eps", 1e-5),
       .activation = folder.activation("activation", "relu"),
       .bias = config.boolean("bias", true)},
      layer::Initial::zeros());
  std::vector<NameRule> rules;
  const auto add_attention = [&](const std::string& ours, const std::string& theirs) {
    const char* const names[] = {"query", "key", "value"};
    for (Index part = 0; part < 3; ++part) {
      rules.push_back({ours + names[part] + ".*", theirs + "in_proj_*", fused_part(part, d_model)});
    }
    rules.push_back({ours + "output.*", theirs + "out_proj.*"});
  };
  for (const std::string stack : {"encoder", "decoder"}) {
    const std::string ours = stack + ".*.", theirs = stack + ".layers.*.";
    add_attention(ours + "attention.", theirs + "self_attn.");
    add_attention(ours + "cross_attention.", theirs + "multihead_attn.");
    rules.push_back({ours + "attention_norm.*", theirs + "norm1.*"});
    rules.push_back({ours + "cross_norm.*", theirs + "norm2.*"});
    rules.push_back({ours + "feed_forward_norm.*", theirs + (stack == "encoder" ? "norm2.*" : "norm3.*")});
    rules.push_back({ours + "feed_forward.up.*", theirs + "linear1.*"});
    rules.push_back({ours + "feed_forward.down.*", theirs + "linear2.*"});
    rules.push_back({stack + ".norm.*", stack + ".norm.*"});
  }
  load_state_dict(result, folder.weights(), NameRules(std::move(rules)));
  return result;
}

}  // namespace headwise::io
