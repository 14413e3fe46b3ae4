#pragma once

#include <headwise/layer/stack.hpp>
#include <headwise/layer/token_embedding.hpp>
#include <headwise/mask/causal.hpp>

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace headwise::model {

struct DecoderOptions {
  Index vocab_size = 0;
  Index d_model = 0;
  Index layers = 1;
  Index heads = 1;
  Index kv_heads = 0;  ///< 0: as many as `heads`
  Index head_dim = 0;  ///< 0: d_model / heads
  Index d_ff = 0;      ///< 0: 4 d_model

  layer::InputPositions positions = layer::InputPositions::none;
  Index max_positions = 0;                   ///< rows of a learned table
  std::optional<position::Rotary> rotary{};  ///< in every layer's attention

  layer::Wiring wiring = layer::Wiring::pre_norm;
  layer::NormKind norm = layer::NormKind::layer;
  double norm_eps = 1e-5;
  bool embedding_norm = false;  ///< BLOOM
  layer::Activation activation = layer::Activation::gelu_tanh;
  bool gated = false;
  bool input_bias = true;   ///< of the query, key and value projections
  bool output_bias = true;  ///< of the projection after attention
  bool feed_forward_bias = true;
  bool tied_head = true;  ///< scores are products with the token embedding
};

/// A causal language model: GPT-2, Llama, GPT-NeoX, BLOOM and their like are options of it.
///
///     logits = norm(B_n(... B_1(embed(ids)))) H^T        H: [vocab_size, d_model], the embedding when tied
///
/// Score is what positions do to the scores of every layer, none or score::Alibi say; another mask or score
/// may be given with a call, which is how a variant is tried in a trained model. Batches are ragged:
/// options.query_rows says where texts begin, and positions start at 0 in each. Paper: Radford et al.,
/// "Language Models are Unsupervised Multitask Learners", 2019, section 2.3.
///
/// Weight is what its matrices are held as: learned parameters, or stored::Weight as a file has them.
template <class Scalar_ = float, class Score = score::None, class Weight_ = Parameter<Scalar_>>
class Decoder {
 public:
  using Scalar = Scalar_;
  using Weight = Weight_;

  /// Keys and values of all layers: a value, moved in and out. Empty at the start of a text.
  using Cache = typename layer::Stack<Scalar, Weight>::Caches;

  template <class C>
  struct GoneOn {
    Matrix<Scalar> output;
    std::vector<C> cache;
  };

  /// Throws ShapeError when sizes do not fit each other.
  Decoder(const DecoderOptions& options, const layer::Initial& initial, Score score = {})
      : options_(options),
        score_(std::move(score)),
        embedding_(embedding_options(options), initial),
        stack_(stack_options(options), initial) {
    if (!options.tied_head) {
      head_.emplace(layer::LinearOptions{.in = options.d_model, .out = options.vocab_size, .bias = false},
                    initial);
    }
  }

  /// ids [n] -> logits [n, vocab_size], of the token that follows each.
  /// Throws ShapeError when an id or position is not in its table, and as `attend` does.
  template <class Ids, class Mask = mask::Causal>
  auto operator()(const Ids& ids, const AttendOptions& options = {}, const Mask& mask = {}) const {
    return logits(states(ids, options, mask, score_), options.executor);
  }
  template <class Ids, class Mask, class OtherScore>
  auto operator()(const Ids& ids, const AttendOptions& options, const Mask& mask,
                  const OtherScore& score) const {
    return logits(states(ids, options, mask, score), options.executor);
  }

  /// ids [n] -> what the head reads, [n, d_model]. observe(i, x) sees the input of block i, and lastly the
  /// output of the last block, before the final norm.
  template <class Ids, class Mask, class OtherScore, class Observe = layer::Unobserved>
  auto states(const Ids& ids, const AttendOptions& options, const Mask& mask, const OtherScore& score,
              Observe&& observe = {}) const {
    auto x = embedding_(ids, layer::token_positions(options, Index(ids.size()), Index(ids.size())).query);
    return stack_(x, options, mask, score, observe);
  }
  template <class Ids, class Mask = mask::Causal>
  auto states(const Ids& ids, const AttendOptions& options = {}, const Mask& mask = {}) const {
    return states(ids, options, mask, score_);
  }

  /// states [n, d_model] -> logits [n, vocab_size], the same bits for any executor
  auto logits(const Sequence auto& states, const Executor& executor = {}) const {
    return head_ ? (*head_)(states, executor) : embedding_.scores(states, executor);
  }

  /// Goes on from a cache: the whole prompt at once, or token by token, as one likes.
  ///     auto [states, cache] = decoder.step(ids, std::move(cache));
  ///   ids [n], borders in options.query_rows as in the cache -> {states [n, d_model], cache}
  /// The cache is one layer::KeyValueCache a layer unless another kind is handed over at the start of the
  /// text: layer::RollingCache, layer::PagedCache, or one's own.
  /// Throws ShapeError when the batch does not fit the cache, and as above.
  template <class Mask, class OtherScore, layer::AttentionCache<Scalar> C = layer::KeyValueCache<Scalar>>
  GoneOn<C> step(std::span<const TokenId> ids, std::vector<C> cache, const AttendOptions& options,
                 const Mask& mask, const OtherScore& score) const {
    const RaggedRows rows = options.query_rows.over(Index(ids.size()), "Decoder: ids");
    const std::vector<Position> positions =
        cache.empty() ? position::within_sequences(rows) : cache.front().next_positions(rows);
    auto [output, longer] =
        stack_(Matrix<Scalar>(embedding_(ids, positions)), std::move(cache), options, mask, score);
    return {std::move(output), std::move(longer)};
  }
  template <class Mask = mask::Causal, layer::AttentionCache<Scalar> C = layer::KeyValueCache<Scalar>>
  GoneOn<C> step(std::span<const TokenId> ids, std::vector<C> cache, const AttendOptions& options = {},
                 const Mask& mask = {}) const {
    return step(ids, std::move(cache), options, mask, score_);
  }

  /// Visits embedding.*, layers.*, score.*, head.*: those that exist.
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

  const DecoderOptions& options() const noexcept { return options_; }
  const Score& score() const noexcept { return score_; }

 private:
  static layer::NormOptions norm_options(const DecoderOptions& o) {
    return {.kind = o.norm, .width = o.d_model, .eps = o.norm_eps};
  }

  static layer::TokenEmbeddingOptions embedding_options(const DecoderOptions& o) {
    layer::TokenEmbeddingOptions result{.vocab_size = o.vocab_size,
                                        .d_model = o.d_model,
                                        .positions = o.positions,
                                        .max_positions = o.max_positions};
    if (o.embedding_norm) result.norm = norm_options(o);
    return result;
  }

  static layer::StackOptions stack_options(const DecoderOptions& o) {
    return {.layers = o.layers,
            .block = {.attention = {.d_model = o.d_model,
                                    .heads = o.heads,
                                    .kv_heads = o.kv_heads,
                                    .head_dim = o.head_dim,
                                    .query_bias = o.input_bias,
                                    .key_bias = o.input_bias,
                                    .value_bias = o.input_bias,
                                    .output_bias = o.output_bias,
                                    .rotary = o.rotary},
                      .feed_forward = {.d_model = o.d_model,
                                       .d_ff = o.d_ff != 0 ? o.d_ff : 4 * o.d_model,
                                       .activation = o.activation,
                                       .gated = o.gated,
                                       .bias = o.feed_forward_bias},
                      .norm = norm_options(o),
                      .wiring = o.wiring},
            .final_norm = o.wiring != layer::Wiring::post_norm};
  }

  static void visit_all(auto& self, auto&& visit) {
    layer::visit_part("embedding", self.embedding_, visit);
    layer::visit_part("layers", self.stack_, visit);
    layer::visit_operands("score", self.score_, visit);
    if (self.head_) layer::visit_part("head", *self.head_, visit);
  }

  DecoderOptions options_;
  Score score_;
  layer::TokenEmbedding<Scalar, Weight> embedding_;
  layer::Stack<Scalar, Weight> stack_;
  std::optional<layer::Linear<Scalar, Weight>> head_;
};

}  // namespace headwise::model
