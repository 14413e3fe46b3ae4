#pragma once

#include <headwise/io/model_folder.hpp>
#include <headwise/model/reformer.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headwise::io {

namespace detail {

/// num_buckets: one number, or a list of factors; none where it is null or missing.
inline std::vector<Index> reformer_factors(const ModelFolder& folder) {
  const Config& config = folder.config();
  if (!config.contains("num_buckets")) return {};
  try {
    return {config.integer("num_buckets")};
  } catch (const FormatError&) {
    const std::vector<Index> factors = config.integers("num_buckets");
    if (factors.empty()) folder.fail("num_buckets", "an empty list", "a number, a list of factors, or null");
    return factors;
  }
}

inline std::vector<model::ReformerKind> reformer_kinds(const ModelFolder& folder) {
  std::vector<model::ReformerKind> kinds;
  for (const std::string& name : folder.config().texts("attn_layers")) {
    if (name != "local" && name != "lsh") folder.fail("attn_layers", "'" + name + "'", "'local' or 'lsh'");
    kinds.push_back(name == "lsh" ? model::ReformerKind::lsh : model::ReformerKind::local);
  }
  return kinds;
}

inline std::vector<Index> two_integers(const ModelFolder& folder, const std::string& key) {
  const std::vector<Index> pair = folder.config().integers(key);
  if (pair.size() != 2 || pair[0] <= 0 || pair[1] <= 0)
    folder.fail(key, std::to_string(pair.size()) + " numbers", "two positive numbers");
  return pair;
}

/// transformers: chunks go round through all rounds, and a key counts as often as it is met.
inline model::ReformerOptions reformer_options(const ModelFolder& folder) {
  folder.expect_flag("is_decoder", true);
  folder.expect_flag("axial_pos_embds", true);
  folder.expect_flag("tie_word_embeddings", false);
  const Config& config = folder.config();
  model::ReformerOptions o{.vocab_size = folder.size("vocab_size"),
                           .d_model = folder.size("hidden_size"),
                           .d_ff = folder.size("feed_forward_size"),
                           .heads = folder.size("num_attention_heads"),
                           .head_dim = folder.size("attention_head_size"),
                           .kinds = reformer_kinds(folder)};
  const std::vector<Index> shape = two_integers(folder, "axial_pos_shape"),
                           widths = two_integers(folder, "axial_pos_embds_dim");
  if (widths[0] + widths[1] != o.d_model)
    folder.fail("axial_pos_embds_dim", std::to_string(widths[0]) + " and " + std::to_string(widths[1]),
                "two numbers that add up to hidden_size, " + std::to_string(o.d_model));
  o.positions_rows = shape[0];
  o.positions_columns = shape[1];
  o.positions_row_width = widths[0];
  o.local = {.chunk_len = config.integer("local_attn_chunk_length", 64),
             .chunks_before = config.integer("local_num_chunks_before", 1),
             .chunks_after = config.integer("local_num_chunks_after", 0),
             .wrapped = true};
  o.lsh = {.chunk_len = config.integer("lsh_attn_chunk_length", 64),
           .chunks_before = config.integer("lsh_num_chunks_before", 1),
           .chunks_after = config.integer("lsh_num_chunks_after", 0),
           .wrap = LshWrap::global,
           .repeats = LshRepeats::counted,
           .epsilon = 1e-6};
  o.factors = reformer_factors(folder);
  o.max_seq_len = config.integer("max_position_embeddings", 4096);
  o.rounds = config.integer("num_hashes", 1);
  o.norm_eps = config.number("layer_norm_eps", 1e-12);
  o.activation = folder.activation("hidden_act", "relu");
  return o;
}

}  // namespace detail

/// ReformerModelWithLMHead, with axial positions. Without num_buckets the length of each text decides on the
/// number of buckets. The published hash is drawn by a generator of another program: here rotations come from
/// `seed`, or are handed over by Reformer::hash_by.
/// Throws FormatError for a setting that the model does not have, and as load_state_dict does.
template <class Scalar = float>
model::Reformer<Scalar> load_reformer(const std::string& path, std::uint64_t seed = 0) {
  const ModelFolder folder(path, "reformer");
  model::ReformerOptions options = detail::reformer_options(folder);
  options.seed = seed;
  const std::string ours = "layers.*.", theirs = "reformer.encoder.layers.*.";
  const std::string attention = theirs + "attention.";
  const NameRules rules{{"tokens.weight", "reformer.embeddings.word_embeddings.weight"},
                        {"positions.rows", "reformer.embeddings.position_embeddings.weights.0"},
                        {"positions.columns", "reformer.embeddings.position_embeddings.weights.1"},
                        {ours + "attention_norm.*", attention + "layer_norm.*"},
                        {ours + "attention.output.*", attention + "output.dense.*"},
                        {ours + "attention.*.*", attention + "self_attention.*.*"},
                        {ours + "feed_forward_norm.*", theirs + "feed_forward.layer_norm.*"},
                        {ours + "feed_forward.up.*", theirs + "feed_forward.dense.dense.*"},
                        {ours + "feed_forward.down.*", theirs + "feed_forward.output.dense.*"},
                        {"norm.*", "reformer.encoder.layer_norm.*"},
                        {"head.weight", "lm_head.decoder.weight"},
                        {"head.bias", "lm_head.decoder.bias"}};
  model::Reformer<Scalar> result(options, layer::Initial::zeros());
  // The tables of positions are stored as [R, 1, a] and [1, C, b].
  const auto source = [&](std::string_view name) {
    TensorSource found = rules(name);
    found.reshaped = name.starts_with("positions.");
    return found;
  };
  load_state_dict(result, folder.weights(), source, {.ties = {{"lm_head.decoder.bias", "lm_head.bias"}}});
  return result;
}

}  // namespace headwise::io
