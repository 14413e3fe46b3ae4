#pragma once

#include <headwise/layer/feed_forward.hpp>
#include <headwise/layer/longformer_attention.hpp>
#include <headwise/layer/norm.hpp>
#include <headwise/model/pattern_encoder.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headwise::model {

struct LongformerOptions {
  EncoderOptions encoder{};
  std::vector<Index> reach{};   ///< keys on each side, one number a layer: windows may grow with depth
  TokenId padding_id = 1;       ///< positions count the tokens that are not this one
  Position first_position = 2;  ///< of the first real token; padding stands just before it
};

/// A post-norm encoder block around Longformer's attention.
template <class Scalar_ = float>
class LongformerBlock {
 public:
  using Scalar = Scalar_;

  LongformerBlock(const EncoderOptions& o, const layer::Initial& initial)
      : attention_({.d_model = o.d_model, .heads = o.heads}, initial),
        feed_forward_(detail::feed_forward_options(o), initial),
        attention_norm_(detail::norm_options(o)),
        feed_forward_norm_(detail::norm_options(o)) {}

  /// x [n, d_model] -> [n, d_model]
  auto operator()(const Sequence auto& x, const LongformerPattern& pattern, const AttendOptions& options,
                  const auto& mask, const auto& score) const {
    const Executor& executor = options.executor;
    const auto y = attention_norm_(
        layer::on_threads::add(executor, attention_(x, pattern, options, mask, score), x), executor);
    return feed_forward_norm_(layer::on_threads::add(executor, feed_forward_(y, executor), y), executor);
  }

  /// Visits attention.*, attention_norm.*, feed_forward.*, feed_forward_norm.*.
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

 private:
  static void visit_all(auto& self, auto&& visit) {
    layer::visit_part("attention", self.attention_, visit);
    layer::visit_part("attention_norm", self.attention_norm_, visit);
    layer::visit_part("feed_forward", self.feed_forward_, visit);
    layer::visit_part("feed_forward_norm", self.feed_forward_norm_, visit);
  }

  layer::LongformerAttention<Scalar> attention_;
  layer::FeedForward<Scalar> feed_forward_;
  layer::Norm<Scalar> attention_norm_, feed_forward_norm_;
};

/// Longformer with the head that it was trained with: an encoder for long texts whose windows may grow from
/// layer to layer.
///
/// Texts of any length, in ragged batches or padded (then with a mask); which tokens are global is said with
/// each call. Ids of a tape record, and every parameter gets its gradient. Paper: Beltagy et al.,
/// "Longformer: The Long-Document Transformer", 2020, sections 3 and 5.
template <class Scalar_ = float>
class Longformer {
 public:
  using Scalar = Scalar_;

  PatternEncoder<LongformerBlock<Scalar>> encoder;
  MaskedTokenHead<Scalar> head;

  /// Throws ShapeError when there is not one reach a layer, or sizes do not fit each other.
  Longformer(const LongformerOptions& options, const layer::Initial& initial)
      : encoder(checked(options).encoder, initial,
                [&] { return LongformerBlock<Scalar>(options.encoder, initial); }),
        head(options.encoder, initial),
        options_(options) {}

  /// ids [n], global [n] -> [n, d_model]. options.query_rows says where texts begin; `mask` hides padding.
  /// observe(i, x) as in PatternEncoder. Throws ShapeError as attend_longformer does.
  template <class Ids, class Mask = mask::None, class Score = score::None, class Observe = layer::Unobserved>
  auto states(const Ids& ids, const std::vector<bool>& global, const AttendOptions& options = {},
              const Mask& mask = {}, const Score& score = {}, Observe&& observe = {}) const {
    LongformerPattern pattern;
    pattern.global = global;
    const std::vector<Position> positions = positions_of(numbers_of(ids), options.query_rows);
    return encoder.states(
        ids, positions, {},
        [&](const LongformerBlock<Scalar>& block, Index layer, const auto& x) {
          pattern.reach = options_.reach[std::size_t(layer)];
          AttendOptions call = options;
          call.dropout.layer = options.dropout.layer + layer;
          return block(x, pattern, call, mask, score);
        },
        observe);
  }

  /// ids [n], global [n] -> logits [n, vocab_size]
  template <class Ids, class Mask = mask::None>
  auto operator()(const Ids& ids, const std::vector<bool>& global, const AttendOptions& options = {},
                  const Mask& mask = {}) const {
    return head(states(ids, global, options, mask), encoder);
  }

  /// Visits encoder.*, head.*.
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

  const LongformerOptions& options() const noexcept { return options_; }

 private:
  static const LongformerOptions& checked(const LongformerOptions& o) {
    expect_equal("Longformer: reach", Index(o.reach.size()), o.encoder.layers, "one number a layer");
    return o;
  }

  /// Positions depend on the ids themselves, be they on a tape or not.
  static std::span<const TokenId> numbers_of(const auto& ids) {
    if constexpr (requires { ids.value(); }) {
      return ids.value();
    } else {
      return ids;
    }
  }

  /// Real tokens of each text are counted from first_position on.
  std::vector<Position> positions_of(std::span<const TokenId> ids, const RaggedRows& batch) const {
    const RaggedRows rows = batch.over(Index(ids.size()), "Longformer: ids");
    std::vector<Position> positions;
    positions.reserve(ids.size());
    for (Index s = 0; s < rows.sequences(); ++s) {
      Position next = options_.first_position;
      for (Index row = rows[s].begin; row < rows[s].end; ++row) {
        const bool padding = ids[std::size_t(row)] == options_.padding_id;
        positions.push_back(padding ? options_.first_position - 1 : next++);
      }
    }
    return positions;
  }

  static void visit_all(auto& self, auto&& visit) {
    layer::visit_part("encoder", self.encoder, visit);
    layer::visit_part("head", self.head, visit);
  }

  LongformerOptions options_;
};

}  // namespace headwise::model
