#pragma once

#include <headwise/io/gguf_state.hpp>
#include <headwise/model/decoder.hpp>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace headwise::io {

/// A decoder whose matrices stay as a file has them.
using StoredDecoder = model::Decoder<float, score::None, stored::Weight>;

namespace detail {

/// Our name of a parameter -> its name in a GGUF file of the Llama architecture.
inline std::string gguf_llama_name(std::string_view ours) {
  using Pair = std::pair<std::string_view, std::string_view>;
  static constexpr std::array<Pair, 3> outside{{{"embedding.tokens.weight", "token_embd.weight"},
                                                {"layers.norm.weight", "output_norm.weight"},
                                                {"head.weight", "output.weight"}}};
  static constexpr std::array<Pair, 9> inside{{{"attention_norm", "attn_norm"},
                                               {"attention.query", "attn_q"},
                                               {"attention.key", "attn_k"},
                                               {"attention.value", "attn_v"},
                                               {"attention.output", "attn_output"},
                                               {"feed_forward_norm", "ffn_norm"},
                                               {"feed_forward.gate", "ffn_gate"},
                                               {"feed_forward.up", "ffn_up"},
                                               {"feed_forward.down", "ffn_down"}}};
  for (const auto& [name, theirs] : outside)
    if (ours == name) return std::string(theirs);
  // "layers.7.attention.query.weight" -> "blk.7.attn_q.weight"
  const std::size_t number = ours.find('.') + 1, part = ours.find('.', number) + 1, last = ours.rfind('.');
  for (const auto& [name, theirs] : inside) {
    if (ours.substr(part, last - part) != name) continue;
    return std::string("blk.")
        .append(ours.substr(number, part - number))
        .append(theirs)
        .append(ours.substr(last));
  }
  return std::string(ours);
}

/// The settings of a Llama file. Every size is that of a tensor which the file has, so that nothing is
/// allocated for a number that it merely claims.
class GgufLlama {
 public:
  explicit GgufLlama(const Gguf& file) : file_(file) {
    const std::string_view architecture = file.text("general.architecture");
    if (architecture != "llama")
      file.fail_metadata("general.architecture", in_quotes(architecture), "'llama'");
    expect("llama.expert_count", 0, "a model without experts");
  }

  model::DecoderOptions options() const {
    const Index d_model = file_.info("token_embd.weight").cols,
                heads = positive("llama.attention.head_count", d_model);
    expect("llama.embedding_length", d_model, "columns of token_embd.weight");
    const Index vocab_size = rows_of("token_embd.weight", d_model);
    expect("llama.vocab_size", vocab_size, "rows of token_embd.weight");
    const Index head_dim = head_dim_of(heads, d_model), kv_heads = kv_heads_of(heads);
    const Index d_ff = rows_of("blk.0.ffn_up.weight", d_model);
    expect("llama.feed_forward_length", d_ff, "rows of blk.0.ffn_up.weight");
    return {.vocab_size = vocab_size,
            .d_model = d_model,
            .layers = layers_of(d_model),
            .heads = heads,
            .kv_heads = kv_heads,
            .head_dim = head_dim,
            .d_ff = d_ff,
            .rotary = rotary_of(head_dim),
            .norm = layer::NormKind::rms,
            .norm_eps = above(0, "llama.attention.layer_norm_rms_epsilon"),
            .activation = layer::Activation::silu,
            .gated = true,
            .input_bias = file_.contains("blk.0.attn_q.bias"),
            .output_bias = file_.contains("blk.0.attn_output.bias"),
            .feed_forward_bias = file_.contains("blk.0.ffn_up.bias"),
            .tied_head = !file_.contains("output.weight")};
  }

 private:
  Index positive(const char* key, Index most) const { return in_range(key, file_.integer(key), most); }
  Index in_range(const char* key, Index value, Index most) const {
    if (value < 1 || value > most)
      file_.fail_metadata(key, std::to_string(value), "1 to " + std::to_string(most));
    return value;
  }

  /// Numbers that a layer would refuse, NaN and infinity among them, are refused here, where the file is
  /// known.
  double above(double least, const char* key) const {
    const double value = file_.number(key);
    if (!(value > least && std::isfinite(value))) fail_number(key, value, "above ", least);
    return value;
  }
  double at_least(double least, const char* key) const {
    const double value = file_.number(key);
    if (!(value >= least && std::isfinite(value))) fail_number(key, value, "of at least ", least);
    return value;
  }
  [[noreturn]] void fail_number(const char* key, double got, const char* relation, double least) const {
    file_.fail_metadata(key, position::detail::to_text(got),
                        std::string("a finite number ") + relation + position::detail::to_text(least));
  }

  /// Rows of a matrix of `cols` columns. One without rows, or with many but no columns, has no bytes, so that
  /// any file may hold it.
  Index rows_of(const char* name, Index cols) const {
    const GgufTensor& tensor = file_.info(name);
    if (tensor.rows > 0 && tensor.cols == cols) return tensor.rows;
    fail_format(file_.file(), "tensor " + in_quotes(name) + " at byte " + std::to_string(tensor.entry),
                "is " + describe(tensor) + ", expected [rows, " + std::to_string(cols) + "]");
  }

  /// A setting that repeats what the tensors say.
  void expect(const char* key, Index value, std::string_view what) const {
    const Index got = file_.integer(key, value);
    if (got != value)
      file_.fail_metadata(key, std::to_string(got), std::to_string(value) + ", the " + std::string(what));
  }

  /// The norms of all layers are there before any layer is made.
  Index layers_of(Index d_model) const {
    const Index layers = positive("llama.block_count", Index(file_.tensors().size()));
    for (Index i = 0; i < layers; ++i)
      for (const char* norm : {".attn_norm.weight", ".ffn_norm.weight"}) {
        const std::string name = "blk." + std::to_string(i) + norm;
        const GgufTensor& tensor = file_.info(name);
        if (tensor.rows == 1 && tensor.cols == d_model) continue;
        fail_format(file_.file(), "tensor " + in_quotes(name) + " at byte " + std::to_string(tensor.entry),
                    "is " + describe(tensor) + ", expected [" + std::to_string(d_model) + "]");
      }
    return layers;
  }

  Index head_dim_of(Index heads, Index d_model) const {
    const Index rows = rows_of("blk.0.attn_q.weight", d_model), head_dim = rows / heads;
    if (head_dim == 0 || head_dim * heads != rows) {
      file_.fail_metadata("llama.attention.head_count", std::to_string(heads),
                          "a divisor of " + std::to_string(rows) + ", the rows of blk.0.attn_q.weight");
    }
    expect("llama.attention.key_length", head_dim, "rows of blk.0.attn_q.weight a head");
    expect("llama.attention.value_length", head_dim, "rows of blk.0.attn_q.weight a head");
    return head_dim;
  }

  Index kv_heads_of(Index heads) const {
    const Index kv_heads = in_range("llama.attention.head_count_kv",
                                    file_.integer("llama.attention.head_count_kv", heads), heads);
    if (heads % kv_heads != 0) {
      file_.fail_metadata("llama.attention.head_count_kv", std::to_string(kv_heads),
                          "a divisor of " + std::to_string(heads) + ", the heads");
    }
    return kv_heads;
  }

  /// Files of this kind pair neighbouring channels: their rows of query and key are in that order.
  position::Rotary rotary_of(Index head_dim) const {
    const Index turned = in_range("llama.rope.dimension_count",
                                  file_.integer("llama.rope.dimension_count", head_dim), head_dim);
    if (turned % 2 != 0)
      file_.fail_metadata("llama.rope.dimension_count", std::to_string(turned), "an even number");
    const double theta = file_.has("llama.rope.freq_base") ? above(1, "llama.rope.freq_base") : 10000;
    position::RotaryOptions options{.head_dim = head_dim,
                                    .rotary_dim = turned,
                                    .theta = theta,
                                    .pairing = position::Pairing::interleaved};
    const std::string_view scaling = file_.text("llama.rope.scaling.type", "none");
    if (scaling == "linear") {
      options.scaling = position::LinearScaling{.factor = at_least(1, "llama.rope.scaling.factor")};
    } else if (scaling != "none") {
      file_.fail_metadata("llama.rope.scaling.type", in_quotes(scaling), "'none' or 'linear'");
    }
    return position::Rotary(options);
  }

  const Gguf& file_;
};

}  // namespace detail

/// The decoder in a GGUF file of the Llama architecture, its matrices as the file has them, or rounded to
/// `format`. Throws FormatError for another architecture, a setting that the decoder does not have, and
/// tensors that are missing, left over or of another shape; then nothing but the norms has been allocated.
inline StoredDecoder load_stored_llama(const Gguf& file, std::optional<stored::Format> format = {}) {
  StoredDecoder decoder(detail::GgufLlama(file).options(), layer::Initial::zeros());
  expect_gguf_fits(decoder, file, detail::gguf_llama_name);
  read_gguf(decoder, file, detail::gguf_llama_name, format);
  return decoder;
}

/// The same with every number dequantised to Scalar. Throws as load_stored_llama does.
template <class Scalar = float>
model::Decoder<Scalar> load_llama(const Gguf& file) {
  const model::DecoderOptions options = detail::GgufLlama(file).options();
  expect_gguf_fits(StoredDecoder(options, layer::Initial::zeros()), file, detail::gguf_llama_name);
  model::Decoder<Scalar> decoder(options, layer::Initial::zeros());
  read_gguf(decoder, file, detail::gguf_llama_name);
  return decoder;
}

}  // namespace headwise::io
