#pragma once

#include <headwise/layer/token_embedding.hpp>
#include <headwise/model/encoder.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headwise::model {

/// An encoder whose layers see by different patterns: embedding and blocks of any kind, each called by the
/// model that knows what its layer may see.
///
///     states = step(B_n, n, ... step(B_1, 1, norm(E[ids] + T[positions] + K[kinds])))
template <class Block>
class PatternEncoder {
 public:
  using Scalar = typename Block::Scalar;

  /// make_block() makes the blocks one by one. Throws ShapeError when sizes do not fit each other.
  PatternEncoder(const EncoderOptions& options, const layer::Initial& initial, auto&& make_block)
      : options_(options), embedding_(detail::embedding_options(options), initial) {
    expect_not_negative("PatternEncoder: layers", options.layers);
    if (options.wiring != layer::Wiring::post_norm)
      throw ShapeError(
          "PatternEncoder: wiring is another one, expected post_norm; no norm follows the last block");
    blocks_.reserve(std::size_t(options.layers));
    for (Index i = 0; i < options.layers; ++i) blocks_.push_back(make_block());
  }

  /// ids [n], positions [n], kinds [n] or none -> [n, d_model]. step(block, i, x) returns what block i makes
  /// of x; observe(i, x) sees the input of block i, and lastly the output of the last one.
  template <class Ids, class Step, class Observe = layer::Unobserved>
  auto states(const Ids& ids, std::span<const Position> positions, std::span<const TokenId> kinds,
              Step&& step, Observe&& observe = {}) const {
    auto x = embedding_(ids, positions, kinds);
    observe(0, x);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      x = step(blocks_[i], Index(i), x);
      observe(Index(i) + 1, x);
    }
    return x;
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
    for (std::size_t i = 0; i < self.blocks_.size(); ++i)
      layer::visit_part("layers." + std::to_string(i), self.blocks_[i], visit);
  }

  EncoderOptions options_;
  layer::TokenEmbedding<Scalar> embedding_;
  std::vector<Block> blocks_;
};

}  // namespace headwise::model
