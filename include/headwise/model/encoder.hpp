#pragma once

#include <headwise/layer/stack.hpp>
#include <headwise/layer/token_embedding.hpp>

#include <span>
#include <utility>
#include <vector>

namespace headwise::model {

struct EncoderOptions {
  Index vocab_size = 0;
  Index kinds = 0;  ///< of token: 2 where a model reads pairs of texts; 0: no such table
  Index d_model = 0;
  Index layers = 1;
  Index heads = 1;
  Index d_ff = 0;  ///< 0: 4 d_model

  layer::InputPositions positions = layer::InputPositions::learned;
  Index max_positions = 512;  ///< rows of a learned table
  bool embedding_norm = true;
  layer::Wiring wiring = layer::Wiring::post_norm;
  double norm_eps = 1e-12;
  layer::Activation activation = layer::Activation::gelu;
};

namespace detail {

inline layer::NormOptions norm_options(const EncoderOptions& o) {
  return {.width = o.d_model, .eps = o.norm_eps};
}

inline layer::TokenEmbeddingOptions embedding_options(const EncoderOptions& o) {
  layer::TokenEmbeddingOptions result{.vocab_size = o.vocab_size,
                                      .d_model = o.d_model,
                                      .positions = o.positions,
                                      .max_positions = o.max_positions,
                                      .kinds = o.kinds};
  if (o.embedding_norm) result.norm = norm_options(o);
  return result;
}

inline layer::FeedForwardOptions feed_forward_options(const EncoderOptions& o) {
  return {.d_model = o.d_model, .d_ff = o.d_ff != 0 ? o.d_ff : 4 * o.d_model, .activation = o.activation};
}

inline layer::BlockOptions block_options(const EncoderOptions& o) {
  return {.attention = {.d_model = o.d_model,
                        .heads = o.heads,
                        .query_bias = true,
                        .key_bias = true,
                        .value_bias = true,
                        .output_bias = true},
          .feed_forward = feed_forward_options(o),
          .norm = norm_options(o),
          .wiring = o.wiring};
}

}  // namespace detail

/// A bidirectional encoder of token ids: BERT, post-norm; or its pre-norm form.
///
///     states = B_n(... B_1(norm(E[ids] + T[positions] + K[kinds])))
///
/// Batches are ragged: options.query_rows says where texts begin, and positions start at 0 in each. Padded
/// batches take mask::KeyLengths or mask::KeyPadding. Any mask and score may be given with a call: that is
/// how a sparse variant is tried in a trained model. Paper: Devlin et al., "BERT: Pre-training of Deep
/// Bidirectional Transformers", 2018, section 3.
template <class Scalar_ = float>
class Encoder {
 public:
  using Scalar = Scalar_;

  /// Throws ShapeError when sizes do not fit each other.
  Encoder(const EncoderOptions& options, const layer::Initial& initial)
      : options_(options),
        embedding_(detail::embedding_options(options), initial),
        stack_({.layers = options.layers,
                .block = detail::block_options(options),
                .final_norm = options.wiring != layer::Wiring::post_norm},
               initial) {}

  /// ids [n] -> [n, d_model], all tokens of kind 0.
  /// Throws ShapeError when an id or position is not in its table, and as `attend` does.
  template <class Ids, class Mask = mask::None, class Score = score::None>
  auto operator()(const Ids& ids, const AttendOptions& options = {}, const Mask& mask = {},
                  const Score& score = {}) const {
    return states(ids, {}, options, mask, score);
  }

  /// ids [n], kinds [n] or none -> [n, d_model]. observe(i, x) sees the input of block i, and lastly the
  /// output of the last one.
  template <class Ids, class Mask = mask::None, class Score = score::None, class Observe = layer::Unobserved>
  auto states(const Ids& ids, std::span<const TokenId> kinds, const AttendOptions& options = {},
              const Mask& mask = {}, const Score& score = {}, Observe&& observe = {}) const {
    const Index tokens = Index(ids.size());
    auto x = embedding_(ids, layer::token_positions(options, tokens, tokens).query, kinds);
    return stack_(x, options, mask, score, observe);
  }

  /// x E^T: the scores of every token.   states [n, d_model] -> [n, vocab_size]
  auto scores(const Sequence auto& states) const { return embedding_.scores(states); }

  /// Visits embedding.*, layers.*.
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

  const EncoderOptions& options() const noexcept { return options_; }

 private:
  static void visit_all(auto& self, auto&& visit) {
    layer::visit_part("embedding", self.embedding_, visit);
    layer::visit_part("layers", self.stack_, visit);
  }

  EncoderOptions options_;
  layer::TokenEmbedding<Scalar> embedding_;
  layer::Stack<Scalar> stack_;
};

/// The head for masked tokens of BERT and its kin, tied to the token embedding of any encoder that has
/// scores().
///
///     logits = norm(act(states W^T + b)) E^T + c
///
/// Paper: Devlin et al., "BERT", 2018, section 3.1; transform and bias as in the published code.
template <class Scalar_ = float>
class MaskedTokenHead {
 public:
  using Scalar = Scalar_;

  MaskedTokenHead(const EncoderOptions& options, const layer::Initial& initial)
      : activation_(options.activation),
        transform_({.in = options.d_model, .out = options.d_model}, initial),
        norm_({.width = options.d_model, .eps = options.norm_eps}),
        bias_(layer::Initial::constant<Scalar>(1, options.vocab_size, 0)) {}

  /// states [n, d_model], the encoder they come from -> logits [n, vocab_size]
  auto operator()(const Sequence auto& states, const auto& encoder) const {
    return add(encoder.scores(norm_(layer::activated(activation_, transform_(states)))), bias_);
  }

  /// Visits transform.*, norm.*, bias.
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

 private:
  static void visit_all(auto& self, auto&& visit) {
    layer::visit_part("transform", self.transform_, visit);
    layer::visit_part("norm", self.norm_, visit);
    visit("bias", self.bias_);
  }

  layer::Activation activation_;
  layer::Linear<Scalar> transform_;
  layer::LayerNorm<Scalar> norm_;
  Parameter<Scalar> bias_;
};

/// An encoder with the head that it was trained with.
template <class Scalar_ = float>
struct MaskedLanguageModel {
  using Scalar = Scalar_;

  Encoder<Scalar> encoder;
  MaskedTokenHead<Scalar> head;

  MaskedLanguageModel(const EncoderOptions& options, const layer::Initial& initial)
      : encoder(options, initial), head(options, initial) {}

  /// ids [n], kinds [n] or none -> logits [n, vocab_size]
  template <class Ids, class Mask = mask::None, class Score = score::None>
  auto operator()(const Ids& ids, std::span<const TokenId> kinds = {}, const AttendOptions& options = {},
                  const Mask& mask = {}, const Score& score = {}) const {
    return head(encoder.states(ids, kinds, options, mask, score), encoder);
  }

  /// Visits encoder.*, head.*.
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

 private:
  static void visit_all(auto& self, auto&& visit) {
    layer::visit_part("encoder", self.encoder, visit);
    layer::visit_part("head", self.head, visit);
  }
};

}  // namespace headwise::model
