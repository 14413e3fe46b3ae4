#pragma once

#include <headwise/io/bert.hpp>
#include <headwise/io/wordpiece.hpp>
#include <headwise/model/sentence_encoder.hpp>

#include <algorithm>
#include <filesystem>
#include <string>

namespace headwise::io {

namespace detail {

/// Settings from files that a folder may or may not have.
inline Config optional_config(const std::string& path) {
  return std::filesystem::exists(path) ? Config::load(path) : Config::parse("{}", path);
}

inline void expect_mean_pooling(const std::string& path) {
  const Config pooling = optional_config(path);
  const bool others = pooling.boolean("pooling_mode_cls_token", false) ||
                      pooling.boolean("pooling_mode_max_tokens", false) ||
                      pooling.boolean("pooling_mode_mean_sqrt_len_tokens", false);
  if (others || !pooling.boolean("pooling_mode_mean_tokens", true)) {
    fail_format(path, "pooling_mode",
                "is not the mean of the tokens, expected pooling_mode_mean_tokens alone");
  }
}

}  // namespace detail

/// A sentence-transformers folder with a BERT encoder: vocab.txt, config.json, model.safetensors, and, where
/// they are there, tokenizer_config.json, sentence_bert_config.json and 1_Pooling/config.json. Throws
/// FormatError for a missing file, or a setting that the pipeline does not have.
template <class Scalar = float>
model::SentenceEncoder<WordPiece, Scalar> load_sentence_encoder(const std::string& folder) {
  detail::expect_mean_pooling(folder + "/1_Pooling/config.json");
  const Config tokenizer = detail::optional_config(folder + "/tokenizer_config.json");
  const Config sentence = detail::optional_config(folder + "/sentence_bert_config.json");
  WordPieceOptions options;
  options.text.lower_case = tokenizer.boolean("do_lower_case", true);
  if (tokenizer.contains("strip_accents")) options.text.strip_accents = tokenizer.boolean("strip_accents");
  WordPiece words = WordPiece::load(folder + "/vocab.txt", options);
  model::Encoder<Scalar> encoder = load_bert<Scalar>(folder);
  const Index longest = encoder.options().max_positions;
  const Index max_tokens = std::min(longest, sentence.integer("max_seq_length", longest));
  return {std::move(words), std::move(encoder), {.max_tokens = max_tokens}};
}

}  // namespace headwise::io
