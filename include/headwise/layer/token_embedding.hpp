#pragma once

#include <headwise/layer/embedding.hpp>
#include <headwise/layer/norm.hpp>
#include <headwise/layer/part.hpp>
#include <headwise/position/learned.hpp>
#include <headwise/position/sinusoidal.hpp>

#include <optional>
#include <span>
#include <utility>

namespace headwise::layer {

/// What the input says of a token's place. Rotary, ALiBi and bucketed distances act in attention instead.
enum class InputPositions { none, learned, sinusoidal };

struct TokenEmbeddingOptions {
  Index vocab_size = 0;
  Index d_model = 0;
  InputPositions positions = InputPositions::none;
  Index max_positions = 0;            ///< rows of the learned table
  Index kinds = 0;                    ///< kinds of token, such as the two texts of a pair; 0: no such table
  double scale = 1;                   ///< of the token's row; sqrt(d_model) in the original Transformer
  std::optional<NormOptions> norm{};  ///< after the sum: BERT, BLOOM
};

/// The first layer of a language model: a row for each token, its kind and its place.
///
///     [norm](scale E[ids] + T[positions] + K[kinds])        E: [vocab_size, d_model]
template <class Scalar_ = float, class Weight_ = Parameter<Scalar_>>
class TokenEmbedding {
 public:
  using Scalar = Scalar_;
  using Weight = Weight_;

  /// Throws ShapeError when vocab_size or d_model is not positive, or a learned table has no rows.
  TokenEmbedding(const TokenEmbeddingOptions& options, const Initial& initial)
      : options_(options), tokens_({.count = options.vocab_size, .width = options.d_model}, initial) {
    if (options.positions == InputPositions::learned) {
      expect_positive("TokenEmbedding: max_positions", options.max_positions);
      learned_.emplace(initial.template table<Scalar>(options.max_positions, options.d_model).value);
    } else if (options.positions == InputPositions::sinusoidal) {
      sinusoidal_.emplace(position::SinusoidalOptions{.d_model = options.d_model});
    }
    if (options.kinds > 0) {
      kinds_.emplace(EmbeddingOptions{.count = options.kinds, .width = options.d_model}, initial);
    }
    if (options.norm) norm_.emplace(*options.norm);
  }

  /// ids [n], positions [n], kinds [n] or none, which means 0 -> [n, d_model].
  /// Throws ShapeError, naming the first id, kind or position that is not in its table.
  auto operator()(const auto& ids, std::span<const Position> positions,
                  std::span<const TokenId> kinds = {}) const {
    auto x = tokens_(ids);
    if (options_.scale != 1) x = multiply_scalar(x, options_.scale);
    if (kinds_) {
      const std::vector<TokenId> zeros(kinds.empty() ? std::size_t(x.rows()) : 0, 0);
      x = kinds_->added_to(x, kinds.empty() ? std::span<const TokenId>(zeros) : kinds);
    }
    if (learned_) x = (*learned_)(x, positions);
    if (sinusoidal_) x = (*sinusoidal_)(x, positions);
    return norm_ ? (*norm_)(x) : x;
  }

  /// x E^T, the scores of every token, for a head tied to the embedding.   x [n, d_model] -> [n, vocab_size]
  auto scores(const Sequence auto& x, const Executor& executor = {}) const {
    return tokens_.scores(x, executor);
  }

  /// Visits tokens.*, positions.table, kinds.*, norm.*: those that exist.
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

  const TokenEmbeddingOptions& options() const noexcept { return options_; }
  const Embedding<Scalar, Weight>& tokens() const noexcept { return tokens_; }

 private:
  static void visit_all(auto& self, auto&& visit) {
    visit_part("tokens", self.tokens_, visit);
    if (self.learned_) visit_part("positions", *self.learned_, visit);
    if (self.kinds_) visit_part("kinds", *self.kinds_, visit);
    if (self.norm_) visit_part("norm", *self.norm_, visit);
  }

  TokenEmbeddingOptions options_;
  Embedding<Scalar, Weight> tokens_;
  std::optional<position::Learned<Scalar>> learned_;
  std::optional<position::Sinusoidal> sinusoidal_;
  std::optional<Embedding<Scalar>> kinds_;
  std::optional<Norm<Scalar>> norm_;
};

}  // namespace headwise::layer
