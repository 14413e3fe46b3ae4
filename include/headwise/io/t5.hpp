#pragma once

#include <headwise/io/model_folder.hpp>
#include <headwise/model/encoder_decoder.hpp>
#include <headwise/score/t5_bias.hpp>

#include <cmath>
#include <string>

namespace headwise::io {

/// T5: an encoder-decoder whose self-attention knows distances by one learned table for each stack.
template <class Scalar = float>
using T5 = model::EncoderDecoder<Scalar, score::T5Bias<Parameter<Scalar>>>;

namespace detail {

/// "relu", "gelu", or "gated-" before one; "gated-gelu" means the tanh form, as the published weights were
/// trained.
struct T5FeedForward {
  layer::Activation activation;
  bool gated;
};

inline T5FeedForward t5_feed_forward(const ModelFolder& folder) {
  const std::string text = folder.config().text("feed_forward_proj", "relu");
  const bool gated = text.starts_with("gated-");
  const std::string name = text == "gated-gelu" ? "gelu_new" : gated ? text.substr(6) : text;
  return {folder.activation_called("feed_forward_proj", name), gated};
}

template <class Scalar>
model::EncoderDecoderOptions t5_options(const ModelFolder& folder) {
  const Config& config = folder.config();
  const Index d_model = folder.size("d_model"), layers = folder.size("num_layers");
  const T5FeedForward feed_forward = t5_feed_forward(folder);
  const bool tied = config.boolean("tie_word_embeddings", true);
  const bool scaled = config.boolean("scale_decoder_outputs", tied);
  return {
      .vocab_size = folder.size("vocab_size"),
      .d_model = d_model,
      .heads = folder.size("num_heads"),
      .head_dim = folder.size("d_kv"),
      .encoder_layers = layers,
      .decoder_layers = folder.size("num_decoder_layers", layers),
      .d_ff = folder.size("d_ff"),
      .wiring = layer::Wiring::pre_norm,
      .norm = layer::NormKind::rms,
      .norm_eps = config.number("layer_norm_epsilon", 1e-6),
      .activation = feed_forward.activation,
      .gated = feed_forward.gated,
      .bias = false,
      .scale = 1,
      // Files of T5 v1.1 say "tied" in some versions, and hold an output matrix of their own all the same.
      .tied_head = tied && !folder.weights().contains("lm_head.weight"),
      .head_scale = scaled ? 1 / std::sqrt(double(d_model)) : 1};
}

inline std::vector<NameRule> t5_rules(bool gated) {
  const std::string encoder = "encoder.block.*.layer.", decoder = "decoder.block.*.layer.";
  const std::string up = gated ? "wi_1" : "wi";
  std::vector<NameRule> rules{
      {"embedding.tokens.weight", "shared.weight"},
      {"encoder_score.0", "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"},
      {"decoder_score.0", "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"},
      {"encoder.norm.weight", "encoder.final_layer_norm.weight"},
      {"decoder.norm.weight", "decoder.final_layer_norm.weight"},
      {"head.weight", "lm_head.weight"}};
  const auto add_stack = [&](const std::string& ours, const std::string& theirs, const std::string& last) {
    const std::pair<const char*, const char*> projections[] = {
        {"query", "q"}, {"key", "k"}, {"value", "v"}, {"output", "o"}};
    for (const auto& [name, letter] : projections) {
      const std::string letter_weight = std::string(letter) + ".weight",
                        name_weight = std::string(name) + ".weight";
      rules.push_back({ours + "attention." + name_weight, theirs + "0.SelfAttention." + letter_weight});
      rules.push_back(
          {ours + "cross_attention." + name_weight, theirs + "1.EncDecAttention." + letter_weight});
    }
    rules.push_back({ours + "attention_norm.weight", theirs + "0.layer_norm.weight"});
    rules.push_back({ours + "cross_norm.weight", theirs + "1.layer_norm.weight"});
    rules.push_back({ours + "feed_forward_norm.weight", theirs + last + ".layer_norm.weight"});
    rules.push_back({ours + "feed_forward.up.weight", theirs + last + ".DenseReluDense." + up + ".weight"});
    rules.push_back({ours + "feed_forward.gate.weight", theirs + last + ".DenseReluDense.wi_0.weight"});
    rules.push_back({ours + "feed_forward.down.weight", theirs + last + ".DenseReluDense.wo.weight"});
  };
  add_stack("encoder.*.", encoder, "1");
  add_stack("decoder.*.", decoder, "2");
  return rules;
}

}  // namespace detail

/// A T5 checkpoint, the original or v1.1: no scale in attention, RMSNorm, feed-forward plain or gated.
/// Throws FormatError for a setting that the model does not have, and as load_state_dict does.
template <class Scalar = float>
T5<Scalar> load_t5(const std::string& path) {
  const ModelFolder folder(path, "t5");
  const model::EncoderDecoderOptions options = detail::t5_options<Scalar>(folder);
  const Index buckets = folder.size("relative_attention_num_buckets", 32);
  const Index max_distance = folder.size("relative_attention_max_distance", 128);
  const auto bias = [&](score::T5Direction direction) {
    return score::T5Bias(layer::Initial::constant<Scalar>(buckets, options.heads, 0),
                         {.direction = direction, .max_distance = max_distance});
  };
  T5<Scalar> result(options, layer::Initial::zeros(), bias(score::T5Direction::bidirectional),
                    bias(score::T5Direction::causal));
  load_state_dict(
      result, folder.weights(), NameRules(detail::t5_rules(options.gated)),
      {.ignored = {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"},
       .ties = {{"shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}}});
  return result;
}

}  // namespace headwise::io
