#pragma once

#include <headwise/io/bert.hpp>
#include <headwise/model/big_bird.hpp>

#include <string>

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
  model::BigBird<Scalar> result({.encoder = detail::encoder_options(folder, 2, "gelu_new"),
                                 .block_size = folder.size("block_size", 64),
                                 .random = folder.size("num_random_blocks", 3)},
                                layer::Initial::zeros());
  detail::load_masked_lm(result, folder, detail::bert_prefix(folder), detail::bert_head());
  return result;
}

}  // namespace headwise::io
