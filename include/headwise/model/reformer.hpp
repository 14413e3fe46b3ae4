#pragma once

#include <headwise/layer/chunked.hpp>
#include <headwise/layer/embedding.hpp>
#include <headwise/layer/feed_forward.hpp>
#include <headwise/layer/layer_norm.hpp>
#include <headwise/layer/local_chunk_attention.hpp>
#include <headwise/layer/lsh_attention.hpp>
#include <headwise/layer/reversible.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/position/axial.hpp>

#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace headwise::model {

enum class ReformerKind { local, lsh };

struct ReformerOptions {
  Index vocab_size = 0, d_model = 0, d_ff = 0;
  Index heads = 1, head_dim = 0;      ///< head_dim 0: d_model / heads
  std::vector<ReformerKind> kinds{};  ///< one a layer, the first one first
  LocalChunks local{};
  LshOptions lsh{};
  std::vector<Index> factors{2};  ///< of the number of buckets; none: the length of each text decides
  Index max_seq_len = 0;          ///< of the texts, where there are no factors; 0: not known
  Index rounds = 1;
  std::uint64_t seed = 0;                           ///< of the hashes
  Index positions_rows = 0, positions_columns = 0;  ///< the grid of axial positions
  Index positions_row_width = 0;                    ///< the rest of d_model is the column's
  double norm_eps = 1e-12;
  layer::Activation activation = layer::Activation::relu;
  Index chunk_rows = 0;  ///< of the feed-forward layers; 0: all at once
};

/// The two functions of one Reformer layer: attention of a norm, and feed-forward of a norm.
template <class Scalar_ = float>
class ReformerBlock {
 public:
  using Scalar = Scalar_;

  ReformerBlock(const ReformerOptions& o, Index layer, const layer::Initial& initial)
      : chunk_rows_(o.chunk_rows),
        attention_norm_({.width = o.d_model, .eps = o.norm_eps}),
        attention_(made(o, layer, initial)),
        feed_forward_norm_({.width = o.d_model, .eps = o.norm_eps}),
        feed_forward_({.d_model = o.d_model, .d_ff = o.d_ff, .activation = o.activation}, initial) {}

  /// The buckets of an LSH layer, none of a local one. rows: the texts of x.   x [n, d_model]
  LshBuckets buckets(const Matrix<Scalar>& x, const RaggedRows& rows = {}) const {
    const auto* const lsh = std::get_if<layer::LshAttention<Scalar>>(&attention_);
    return lsh == nullptr ? LshBuckets{} : lsh->buckets(attention_norm_(x), rows);
  }

  /// x [n, d_model] -> [n, d_model]
  auto attended(const Sequence auto& x, const LshBuckets& buckets, const AttendOptions& options,
                const auto& mask) const {
    const auto normalised = attention_norm_(x);
    if (const auto* const lsh = std::get_if<layer::LshAttention<Scalar>>(&attention_))
      return (*lsh)(normalised, buckets, options, mask);
    return std::get<layer::LocalChunkAttention<Scalar>>(attention_)(normalised, options, mask);
  }

  /// x [n, d_model] -> [n, d_model]
  auto fed_forward(const Sequence auto& x) const {
    const auto whole = [this](const auto& rows) { return feed_forward_(feed_forward_norm_(rows)); };
    if (chunk_rows_ <= 0) return whole(x);
    return chunked(whole, x, chunk_rows_);
  }

  /// An LSH layer under other rotations; a local one stays.
  void hash_by(const LshRotations<Scalar>& rotations) {
    if (auto* const lsh = std::get_if<layer::LshAttention<Scalar>>(&attention_))
      *lsh = lsh->hashed_by(rotations);
  }

  /// Visits attention_norm.*, attention.*, feed_forward_norm.*, feed_forward.*.
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

 private:
  using Attention = std::variant<layer::LocalChunkAttention<Scalar>, layer::LshAttention<Scalar>>;

  static Attention made(const ReformerOptions& o, Index layer, const layer::Initial& initial) {
    if (o.kinds[std::size_t(layer)] == ReformerKind::local) {
      return layer::LocalChunkAttention<Scalar>(
          {.d_model = o.d_model, .heads = o.heads, .head_dim = o.head_dim, .chunks = o.local}, initial);
    }
    return layer::LshAttention<Scalar>({.d_model = o.d_model,
                                        .heads = o.heads,
                                        .head_dim = o.head_dim,
                                        .lsh = o.lsh,
                                        .factors = o.factors,
                                        .max_seq_len = o.max_seq_len,
                                        .rounds = o.rounds,
                                        .seed = o.seed,
                                        .layer = layer},
                                       initial);
  }

  static void visit_all(auto& self, auto&& visit) {
    layer::visit_part("attention_norm", self.attention_norm_, visit);
    std::visit([&](auto& attention) { layer::visit_part("attention", attention, visit); }, self.attention_);
    layer::visit_part("feed_forward_norm", self.feed_forward_norm_, visit);
    layer::visit_part("feed_forward", self.feed_forward_, visit);
  }

  Index chunk_rows_;
  layer::LayerNorm<Scalar> attention_norm_;
  Attention attention_;
  layer::LayerNorm<Scalar> feed_forward_norm_;
  layer::FeedForward<Scalar> feed_forward_;
};

/// The Reformer with a language model's head.
///
///     x1 = x2 = E[ids] + axial positions;   reversible layers;   logits = norm([y1; y2]) W^T + b
///
/// Layers look locally or by LSH, as `kinds` says. On a tape all layers are one node: its memory does not
/// grow with their number, and their buckets are remembered. Paper: Kitaev et al., "Reformer: The Efficient
/// Transformer", 2020.
template <class Scalar_ = float>
class Reformer {
 public:
  using Scalar = Scalar_;

  /// Throws ShapeError when sizes do not fit each other.
  Reformer(const ReformerOptions& options, const layer::Initial& initial)
      : options_(checked(options)),
        tokens_({.count = options.vocab_size, .width = options.d_model}, initial),
        positions_(initial.template table<Scalar>(options.positions_rows, options.positions_row_width).value,
                   initial
                       .template table<Scalar>(options.positions_columns,
                                               options.d_model - options.positions_row_width)
                       .value),
        norm_({.width = 2 * options.d_model, .eps = options.norm_eps}),
        head_({.in = 2 * options.d_model, .out = options.vocab_size}, initial) {
    for (Index i = 0; i < Index(options.kinds.size()); ++i) blocks_.emplace_back(options, i, initial);
  }

  /// ids [n] -> logits [n, vocab_size]. options.query_rows says where texts begin.
  /// Throws ShapeError, naming the id or position, when one is not in its table.
  template <class Ids, class Mask = mask::Causal>
  auto operator()(const Ids& ids, const AttendOptions& options = {}, const Mask& mask = {}) const {
    const auto x = embedded(ids, options);
    return head_(norm_(reversible(calls(options, mask), x, x)));
  }

  /// The same, observed: observe(i, x, buckets) sees the second stream before layer i and the buckets that
  /// the layer uses, and lastly the stream after all layers, without buckets.   ids [n] -> [n, vocab_size]
  template <class Mask, class Observe>
  Matrix<Scalar> observed(std::span<const TokenId> ids, const AttendOptions& options, const Mask& mask,
                          Observe&& observe) const {
    Matrix<Scalar> y1 = embedded(ids, options), y2 = y1;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const LshBuckets buckets = blocks_[i].buckets(y2, options.query_rows);
      observe(Index(i), y2, buckets);
      y1 += blocks_[i].attended(y2, buckets, options, mask);
      y2 += blocks_[i].fed_forward(y1);
    }
    observe(Index(blocks_.size()), y2, LshBuckets{});
    return head_(norm_(concatenate_columns(y1, y2)));
  }

  /// All LSH layers under these rotations: other rounds, another draw, or that of a published run.
  void hash_by(const LshRotations<Scalar>& rotations) {
    for (ReformerBlock<Scalar>& block : blocks_) block.hash_by(rotations);
  }

  /// Visits tokens.*, positions.*, layers.0.*, ..., norm.*, head.*.
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

  const ReformerOptions& options() const noexcept { return options_; }

 private:
  template <class Mask>
  struct Attend {
    const ReformerBlock<Scalar>* block;
    AttendOptions options;
    Mask mask;

    LshBuckets remember(const Matrix<Scalar>& x) const { return block->buckets(x, options.query_rows); }
    auto operator()(const Sequence auto& x, const LshBuckets& buckets) const {
      return block->attended(x, buckets, options, mask);
    }
  };

  struct FeedForward {
    const ReformerBlock<Scalar>* block;
    auto operator()(const Sequence auto& x) const { return block->fed_forward(x); }
  };

  /// The layers of one call, cheap to copy: a tape keeps them.
  template <class Mask>
  auto calls(const AttendOptions& options, const Mask& mask) const {
    std::vector<layer::ReversiblePair<Attend<Mask>, FeedForward>> result;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      AttendOptions call = options;
      call.dropout.layer = options.dropout.layer + Index(i);
      result.push_back({{&blocks_[i], call, mask}, {&blocks_[i]}});
    }
    return result;
  }

  template <class Ids>
  auto embedded(const Ids& ids, const AttendOptions& options) const {
    const RaggedRows rows = options.query_rows.over(Index(ids.size()), "Reformer: ids");
    return positions_(tokens_(ids), std::span<const Position>(position::within_sequences(rows)));
  }

  static const ReformerOptions& checked(const ReformerOptions& o) {
    expect_positive("Reformer: d_model", o.d_model);
    expect_positive("Reformer: positions_rows", o.positions_rows);
    expect_positive("Reformer: positions_columns", o.positions_columns);
    expect_positive("Reformer: positions_row_width", o.positions_row_width);
    expect_positive("Reformer: d_model - positions_row_width", o.d_model - o.positions_row_width,
                    "rows and columns of the grid share d_model");
    return o;
  }

  static void visit_all(auto& self, auto&& visit) {
    layer::visit_part("tokens", self.tokens_, visit);
    layer::visit_part("positions", self.positions_, visit);
    for (std::size_t i = 0; i < self.blocks_.size(); ++i)
      layer::visit_part("layers." + std::to_string(i), self.blocks_[i], visit);
    layer::visit_part("norm", self.norm_, visit);
    layer::visit_part("head", self.head_, visit);
  }

  ReformerOptions options_;
  layer::Embedding<Scalar> tokens_;
  position::Axial<Scalar> positions_;
  std::vector<ReformerBlock<Scalar>> blocks_;
  layer::LayerNorm<Scalar> norm_;
  layer::Linear<Scalar> head_;
};

}  // namespace headwise::model
