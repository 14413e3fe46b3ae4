#pragma once

#include <headwise/io/model_folder.hpp>
#include <headwise/model/encoder.hpp>

#include <string>
#include <utility>
#include <vector>

namespace headwise::io {

namespace detail {

/// The sizes of an encoder in the keys that BERT and its kin share; the defaults differ.
inline model::EncoderOptions encoder_options(const ModelFolder& folder, Index kinds, const char* activation) {
  return {.vocab_size = folder.size("vocab_size"),
          .kinds = folder.size("type_vocab_size", kinds),
          .d_model = folder.size("hidden_size"),
          .layers = folder.size("num_hidden_layers"),
          .heads = folder.size("num_attention_heads"),
          .d_ff = folder.size("intermediate_size"),
          .positions = layer::InputPositions::learned,
          .max_positions = folder.size("max_position_embeddings"),
          .norm_eps = folder.config().number("layer_norm_eps", 1e-12),
          .activation = folder.activation("hidden_act", activation)};
}

inline model::EncoderOptions bert_options(const ModelFolder& folder) {
  folder.expect_text("position_embedding_type", "absolute");
  folder.expect_flag("is_decoder", false);
  folder.expect_flag("add_cross_attention", false);
  return encoder_options(folder, 2, "gelu");
}

/// `ours` is the path to the encoder in our model, `theirs` in the file; both empty or with a dot at the end.
inline std::vector<NameRule> bert_rules(const std::string& ours, const std::string& theirs) {
  const std::string layers = ours + "layers.*.", layer = theirs + "encoder.layer.*.";
  const std::string embedding = ours + "embedding.", embeddings = theirs + "embeddings.";
  return {{embedding + "tokens.weight", embeddings + "word_embeddings.weight"},
          {embedding + "positions.table", embeddings + "position_embeddings.weight"},
          {embedding + "kinds.weight", embeddings + "token_type_embeddings.weight"},
          {embedding + "norm.*", embeddings + "LayerNorm.*"},
          {layers + "attention.output.*", layer + "attention.output.dense.*"},
          {layers + "attention.*.*", layer + "attention.self.*.*"},
          {layers + "attention_norm.*", layer + "attention.output.LayerNorm.*"},
          {layers + "feed_forward.up.*", layer + "intermediate.dense.*"},
          {layers + "feed_forward.down.*", layer + "output.dense.*"},
          {layers + "feed_forward_norm.*", layer + "output.LayerNorm.*"}};
}

inline std::string bert_prefix(const ModelFolder& folder) {
  return folder.prefix_of("bert.", "embeddings.word_embeddings.weight");
}

/// How a file names the parts of a head for masked tokens.
struct HeadNames {
  std::string transform, norm, bias, decoder;
};

inline HeadNames bert_head() {
  return {"cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias",
          "cls.predictions.decoder"};
}

/// Loads an encoder and its head, whose output matrix is the token embedding. `rules` come before BERT's.
template <class Model>
void load_masked_lm(Model& model, const ModelFolder& folder, const std::string& prefix, const HeadNames& head,
                    std::vector<NameRule> rules = {}) {
  for (NameRule& rule : bert_rules("encoder.", prefix)) rules.push_back(std::move(rule));
  rules.push_back({"head.transform.*", head.transform + ".*"});
  rules.push_back({"head.norm.*", head.norm + ".*"});
  rules.push_back({"head.bias", head.bias});
  load_state_dict(
      model, folder.weights(), NameRules(std::move(rules)),
      {.ignored = {prefix + "embeddings.position_ids", prefix + "pooler.*", "cls.seq_relationship.*"},
       .ties = {{prefix + "embeddings.word_embeddings.weight", head.decoder + ".weight"},
                {head.bias, head.decoder + ".bias"}}});
}

}  // namespace detail

/// The encoder of a BERT checkpoint, names with or without "bert."; heads and pooler in the file are passed
/// over. Throws FormatError for a setting that the encoder does not have, and as load_state_dict does.
template <class Scalar = float>
model::Encoder<Scalar> load_bert(const std::string& path) {
  const ModelFolder folder(path, "bert");
  const std::string prefix = detail::bert_prefix(folder);
  model::Encoder<Scalar> encoder(detail::bert_options(folder), layer::Initial::zeros());
  load_state_dict(
      encoder, folder.weights(), NameRules(detail::bert_rules("", prefix)),
      {.ignored = {prefix + "embeddings.position_ids", prefix + "pooler.*", "cls.*", "classifier.*"}});
  return encoder;
}

/// BertForMaskedLM: the encoder and its head, whose output matrix is the token embedding.
/// Throws FormatError for a setting that the model does not have, and as load_state_dict does.
template <class Scalar = float>
model::MaskedLanguageModel<Scalar> load_bert_masked_lm(const std::string& path) {
  const ModelFolder folder(path, "bert");
  folder.expect_flag("tie_word_embeddings", true);
  model::MaskedLanguageModel<Scalar> result(detail::bert_options(folder), layer::Initial::zeros());
  detail::load_masked_lm(result, folder, detail::bert_prefix(folder), detail::bert_head());
  return result;
}

}  // namespace headwise::io
