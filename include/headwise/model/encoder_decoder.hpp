#pragma once

#include <headwise/layer/stack.hpp>
#include <headwise/layer/token_embedding.hpp>
#include <headwise/mask/causal.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headwise::model {

struct EncoderDecoderOptions {
  Index vocab_size = 0;  ///< 0: no tokens; the model reads and gives rows of d_model numbers
  Index d_model = 512;
  Index heads = 8;
  Index head_dim = 0;  ///< 0: d_model / heads
  Index encoder_layers = 6;
  Index decoder_layers = 6;
  Index d_ff = 2048;

  layer::InputPositions positions = layer::InputPositions::none;
  Index max_positions = 0;     ///< rows of a learned table
  double embedding_scale = 1;  ///< sqrt(d_model) in the original Transformer

  layer::Wiring wiring = layer::Wiring::post_norm;
  layer::NormKind norm = layer::NormKind::layer;
  double norm_eps = 1e-5;
  bool final_norm = true;  ///< after each stack
  layer::Activation activation = layer::Activation::relu;
  bool gated = false;
  bool bias = true;               ///< of every projection, and of LayerNorm
  std::optional<double> scale{};  ///< of query . key; 1 in T5
  bool tied_head = true;          ///< scores are products with the token embedding
  double head_scale = 1;          ///< of the states before the head; 1 / sqrt(d_model) in T5
};

/// Encoder and decoder: the original Transformer, nn.Transformer of PyTorch, and T5.
///
///     memory = norm(E_n(... E_1(source)))                     bidirectional
///     states = norm(D_m(... D_1(target, memory), memory))     causal, each block looks at memory
///     logits = head_scale states H^T
///
/// Source and target are token ids, or matrices of rows. Score acts in self-attention only, with a policy of
/// its own for each stack (T5: one learned table each); cross-attention knows no positions. Batches are
/// ragged. Padded ones take a mask for the source's keys, which `encode` and `decode` are both given. Paper:
/// Vaswani et al., "Attention Is All You Need", 2017, section 3.1; Raffel et al., "Exploring the Limits of
/// Transfer Learning with a Unified Text-to-Text Transformer", 2019, section 2.1.
template <class Scalar_ = float, class Score = score::None>
class EncoderDecoder {
 public:
  using Scalar = Scalar_;
  using Caches = typename layer::Stack<Scalar>::Caches;

  /// What decoding knows of a text so far: keys and values of the decoder's own tokens, and of the memory.
  struct Decoding {
    Caches own, memory;
  };
  struct GoneOn {
    Matrix<Scalar> output;
    Decoding decoding;
  };

  /// Throws ShapeError when sizes do not fit each other.
  EncoderDecoder(const EncoderDecoderOptions& options, const layer::Initial& initial,
                 Score encoder_score = {}, Score decoder_score = {})
      : options_(options),
        encoder_score_(std::move(encoder_score)),
        decoder_score_(std::move(decoder_score)),
        encoder_(stack_options(options, options.encoder_layers, false), initial),
        decoder_(stack_options(options, options.decoder_layers, true), initial) {
    if (options.vocab_size == 0) return;
    embedding_.emplace(layer::TokenEmbeddingOptions{.vocab_size = options.vocab_size,
                                                    .d_model = options.d_model,
                                                    .positions = options.positions,
                                                    .max_positions = options.max_positions,
                                                    .scale = options.embedding_scale},
                       initial);
    if (!options.tied_head) {
      head_.emplace(layer::LinearOptions{.in = options.d_model, .out = options.vocab_size, .bias = false},
                    initial);
    }
  }

  /// source: ids [k] or rows [k, d_model] -> memory [k, d_model]. observe(i, x) sees the input of block i,
  /// and lastly the output of the last block, before the final norm.
  template <class Source, class Mask = mask::None, class Observe = layer::Unobserved>
  auto encode(const Source& source, const AttendOptions& options = {}, const Mask& mask = {},
              Observe&& observe = {}) const {
    return encoder_(embedded(source, options), options, mask, encoder_score_, observe);
  }

  /// target: ids [n] or rows [n, d_model], memory [k, d_model] -> states [n, d_model]. The target's sequences
  /// are options.query_rows, the memory's options.key_rows; mask is of the target among itself, memory_mask
  /// of its look at the memory.
  template <class Target, Sequence Memory, class Mask = mask::Causal, class MemoryMask = mask::None,
            class Observe = layer::Unobserved>
  auto decode(const Target& target, const Memory& memory, const AttendOptions& options = {},
              const Mask& mask = {}, const MemoryMask& memory_mask = {}, Observe&& observe = {}) const {
    const AttendOptions own = own_options(options);
    return decoder_.across(embedded(target, own), own, mask, decoder_score_, memory, memory_options(options),
                           memory_mask, observe);
  }

  /// states [n, d_model] -> logits [n, vocab_size]. Throws ShapeError for a model without tokens.
  auto logits(const Sequence auto& states) const {
    const auto& embedding = tokens();
    if (options_.head_scale != 1) return scores(embedding, multiply_scalar(states, options_.head_scale));
    return scores(embedding, states);
  }

  /// Prepares decoding with a cache: keys and values of the memory, made once.   memory [k, d_model]
  Decoding begun(const Matrix<Scalar>& memory, const RaggedRows& rows = {}) const {
    return {{}, decoder_.remembered(memory, rows)};
  }

  /// Goes on with the next tokens of each text.
  ///     auto [states, decoding] = model.step(ids, std::move(decoding));
  ///   target: ids [n] or rows [n, d_model], borders in options.query_rows -> {states [n, d_model], decoding}
  template <class Target, class Mask = mask::Causal, class MemoryMask = mask::None>
  GoneOn step(const Target& target, Decoding decoding, const AttendOptions& options = {},
              const Mask& mask = {}, const MemoryMask& memory_mask = {}) const {
    const auto positions = [&](const RaggedRows& rows) {
      return decoding.own.empty() ? position::within_sequences(rows)
                                  : decoding.own.front().next_positions(rows);
    };
    const Matrix<Scalar> x = embedded(target, options.query_rows, positions);
    auto [output, caches] =
        decoder_.across(x, std::move(decoding.own), own_options(options), mask, decoder_score_,
                        decoding.memory, memory_options(options), memory_mask);
    decoding.own = std::move(caches);
    return {std::move(output), std::move(decoding)};
  }

  /// Visits embedding.*, encoder.*, encoder_score.*, decoder.*, decoder_score.*, head.*: those that exist.
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

  const EncoderDecoderOptions& options() const noexcept { return options_; }

 private:
  auto embedded(const auto& source, const AttendOptions& options) const {
    return embedded(source, options.query_rows, [&](const RaggedRows& rows) {
      return layer::token_positions(options, rows.rows(), rows.rows()).query;
    });
  }

  template <class Source>
  auto embedded(const Source& source, const RaggedRows& rows, auto&& positions) const {
    if constexpr (RealMatrix<Source>) {
      return Matrix<Scalar>(source);
    } else if constexpr (Sequence<Source>) {
      return source;
    } else {
      const auto& embedding = tokens();
      return embedding(source, positions(rows.over(Index(source.size()), "EncoderDecoder: ids")));
    }
  }

  auto scores(const layer::TokenEmbedding<Scalar>& embedding, const Sequence auto& states) const {
    return head_ ? (*head_)(states) : embedding.scores(states);
  }

  const layer::TokenEmbedding<Scalar>& tokens() const {
    if (!embedding_) {
      throw ShapeError(
          "EncoderDecoder: vocab_size is 0, expected a positive number to read or score token ids");
    }
    return *embedding_;
  }

  static AttendOptions own_options(AttendOptions options) {
    options.key_rows = {};
    return options;
  }

  AttendOptions memory_options(const AttendOptions& options) const {
    AttendOptions result;
    result.query_rows = options.query_rows;
    result.key_rows = options.key_rows;
    result.dropout = options.dropout;
    result.dropout.layer += options_.decoder_layers;
    result.executor = options.executor;
    return result;
  }

  static layer::StackOptions stack_options(const EncoderDecoderOptions& o, Index layers, bool crosses) {
    const layer::MultiHeadAttentionOptions attention{.d_model = o.d_model,
                                                     .heads = o.heads,
                                                     .head_dim = o.head_dim,
                                                     .query_bias = o.bias,
                                                     .key_bias = o.bias,
                                                     .value_bias = o.bias,
                                                     .output_bias = o.bias,
                                                     .scale = o.scale};
    layer::StackOptions result{
        .layers = layers,
        .block = {.attention = attention,
                  .feed_forward = {.d_model = o.d_model,
                                   .d_ff = o.d_ff,
                                   .activation = o.activation,
                                   .gated = o.gated,
                                   .bias = o.bias},
                  .norm = {.kind = o.norm, .width = o.d_model, .eps = o.norm_eps, .bias = o.bias},
                  .wiring = o.wiring},
        .final_norm = o.final_norm};
    if (crosses) result.block.cross_attention = attention;
    return result;
  }

  static void visit_all(auto& self, auto&& visit) {
    if (self.embedding_) layer::visit_part("embedding", *self.embedding_, visit);
    layer::visit_part("encoder", self.encoder_, visit);
    layer::visit_operands("encoder_score", self.encoder_score_, visit);
    layer::visit_part("decoder", self.decoder_, visit);
    layer::visit_operands("decoder_score", self.decoder_score_, visit);
    if (self.head_) layer::visit_part("head", *self.head_, visit);
  }

  EncoderDecoderOptions options_;
  Score encoder_score_, decoder_score_;
  std::optional<layer::TokenEmbedding<Scalar>> embedding_;
  layer::Stack<Scalar> encoder_, decoder_;
  std::optional<layer::Linear<Scalar>> head_;
};

}  // namespace headwise::model
