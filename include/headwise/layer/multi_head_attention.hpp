#pragma once

#include <headwise/attention/attend.hpp>
#include <headwise/layer/cached_attention.hpp>
#include <headwise/layer/key_value_cache.hpp>
#include <headwise/layer/linear.hpp>
#include <headwise/layer/part.hpp>
#include <headwise/layer/rotation.hpp>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headwise::layer {

struct MultiHeadAttentionOptions {
  Index d_model = 0;      ///< columns of x and of the output
  Index heads = 1;        ///< of the query
  Index kv_heads = 0;     ///< of key and value; 0: as many as `heads`
  Index head_dim = 0;     ///< of query and key; 0: d_model / heads
  Index value_dim = 0;    ///< of value; 0: head_dim
  Index key_width = 0;    ///< columns of what keys are made from; 0: d_model
  Index value_width = 0;  ///< columns of what values are made from; 0: d_model
  bool query_bias = false, key_bias = false, value_bias = false, output_bias = false;
  std::optional<double> scale{};             ///< of query . key; 1 / sqrt(head_dim) when not given
  std::optional<position::Rotary> rotary{};  ///< turns query and key at their positions
};

/// Multi-head attention: projections, attention in each head, and a projection of what the heads found.
///
///     [O_1 ... O_h] W_o^T,   O_a = attend(x W_q^T, y W_k^T, z W_v^T)_a        self-attention: x = y = z
///
/// Mask, score, ragged rows, positions, dropout and executor come with the call; heads, kv_heads and scale
/// are the layer's own. Query head h reads key-value head h / (heads / kv_heads). Cost: 2 in out FLOPs a row
/// for each projection, and that of `attend`. Paper: Vaswani et al., "Attention Is All You Need", 2017,
/// section 3.2.2.
template <class Scalar_ = float, class Weight_ = Parameter<Scalar_>>
class MultiHeadAttention {
 public:
  using Scalar = Scalar_;
  using Weight = Weight_;
  using Cache = KeyValueCache<Scalar>;

  /// Throws ShapeError when sizes do not fit each other.
  MultiHeadAttention(const MultiHeadAttentionOptions& options, const Initial& initial)
      : options_(completed(options)),
        query_(
            {.in = options_.d_model, .out = options_.heads * options_.head_dim, .bias = options_.query_bias},
            initial),
        key_({.in = options_.key_width,
              .out = options_.kv_heads * options_.head_dim,
              .bias = options_.key_bias},
             initial),
        value_({.in = options_.value_width,
                .out = options_.kv_heads * options_.value_dim,
                .bias = options_.value_bias},
               initial),
        output_({.in = options_.heads * options_.value_dim,
                 .out = options_.d_model,
                 .bias = options_.output_bias},
                initial) {}

  /// Self-attention.   x [n, d_model] -> [n, d_model]. Throws ShapeError as `attend` does.
  template <Sequence X, class Mask = mask::None, class Score = score::None>
  auto operator()(const X& x, const AttendOptions& options = {}, const Mask& mask = {},
                  const Score& score = {}) const {
    expect_columns("x", x.cols(), options_.d_model);
    expect_columns("x", x.cols(), options_.key_width);
    expect_columns("x", x.cols(), options_.value_width);
    const AttendOptions call = filled(options);
    auto [query, key, value] = Projection::each(x, call.executor, query_, key_, value_);
    return found(std::move(query), std::move(key), value, call, mask, score);
  }
  template <Sequence X, MaskPolicy Mask, class Score = score::None>
  auto operator()(const X& x, const Mask& mask, const Score& score = {}) const {
    return (*this)(x, AttendOptions{}, mask, score);
  }

  /// Cross-attention: x looks at other rows.
  ///   x [n, d_model], key_source [k, key_width], value_source [k, value_width] -> [n, d_model]
  template <Sequence X, Sequence K, Sequence V, class Mask = mask::None, class Score = score::None>
  auto across(const X& x, const K& key_source, const V& value_source, const AttendOptions& options = {},
              const Mask& mask = {}, const Score& score = {}) const {
    const AttendOptions call = filled(options);
    expect_columns("x", x.cols(), options_.d_model);
    expect_columns("key_source", key_source.cols(), options_.key_width);
    expect_columns("value_source", value_source.cols(), options_.value_width);
    return found(query_(x, call.executor), key_(key_source, call.executor),
                 value_(value_source, call.executor), call, mask, score);
  }

  /// Self-attention that goes on from a cache: x stands behind what is cached, sees it, and joins it. With
  /// Causal, token after token gives what one call over the whole text gives.
  ///   x [n, d_model], the new tokens' borders in options.query_rows -> {output [n, d_model], cache}
  /// Throws ShapeError when options name positions or key rows, which the cache knows.
  template <RealMatrix X, AttentionCache<Scalar_> C, class Mask = mask::None, class Score = score::None>
  Cached<Matrix<Scalar>, C> operator()(const X& x, C cache, const AttendOptions& options = {},
                                       const Mask& mask = {}, const Score& score = {}) const {
    expect_cache_decides(options);
    expect_columns("x", x.cols(), options_.d_model);
    expect_columns("x", x.cols(), options_.key_width);
    expect_columns("x", x.cols(), options_.value_width);
    AttendOptions call = filled(options);
    call.query_rows = options.query_rows.over(x.rows(), "MultiHeadAttention: x");
    const std::vector<Position> positions = cache.next_positions(call.query_rows);
    auto [query, key, value] = Projection::each(x, call.executor, query_, key_, value_);
    if (options_.rotary && !turns_late()) {
      const auto angles = turn(positions, call.query_rows, {}, call.executor);
      rotate_into(query, angles, options_.heads, query, call.executor);
      rotate_into(key, angles, options_.kv_heads, key, call.executor);
    }
    cache.append(key, value, call.query_rows);
    return {output_(attended(query, positions, cache, call, mask, score), call.executor), std::move(cache)};
  }
  template <RealMatrix X, AttentionCache<Scalar_> C, MaskPolicy Mask, class Score = score::None>
  Cached<Matrix<Scalar>, C> operator()(const X& x, C cache, const Mask& mask, const Score& score = {}) const {
    return (*this)(x, std::move(cache), AttendOptions{}, mask, score);
  }

  /// The keys and values of a source that stays: made once, then looked at by every token of a decoder.
  ///   source [k, width], when key_width and value_width are equal; its sequences in `rows`
  /// Throws ShapeError for a layer with rotary positions, which cross-attention with a memory does not have.
  template <RealMatrix X>
  Cache remembered(const X& source, const RaggedRows& rows = {}, const Executor& executor = {}) const {
    expect_no_rotary();
    expect_columns("source", source.cols(), options_.key_width);
    expect_columns("source", source.cols(), options_.value_width);
    Cache cache;
    cache.append(key_(source, executor), value_(source, executor),
                 rows.over(source.rows(), "MultiHeadAttention: source"));
    return cache;
  }

  /// Cross-attention to what was remembered.   x [n, d_model] -> [n, d_model]
  template <RealMatrix X, class Mask = mask::None, class Score = score::None>
  Matrix<Scalar> across(const X& x, const Cache& memory, const AttendOptions& options = {},
                        const Mask& mask = {}, const Score& score = {}) const {
    expect_no_rotary();
    expect_columns("x", x.cols(), options_.d_model);
    AttendOptions call = filled(options);
    call.key_rows = memory.rows();
    return output_(attend(query_(x, call.executor), memory.key(), memory.value(), call, mask, score),
                   call.executor);
  }

  /// Visits query.*, key.*, value.*, output.*.
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

  const MultiHeadAttentionOptions& options() const noexcept { return options_; }

 private:
  using Projection = Linear<Scalar, Weight>;

  /// What the heads find, projected.
  template <Sequence Q, Sequence K, Sequence V>
  auto found(Q query, K key, const V& value, const AttendOptions& call, const auto& mask,
             const auto& score) const {
    if (!options_.rotary) return output_(attend(query, key, value, call, mask, score), call.executor);
    const TokenPositions at = token_positions(call, query.rows(), key.rows());
    const auto query_turn = turn(at.query, at.query_rows, at.lengths, call.executor);
    const auto key_turn =
        at.key == at.query ? query_turn : turn(at.key, at.key_rows, at.lengths, call.executor);
    const auto turned_query = on_threads::rotate(call.executor, std::move(query), query_turn, options_.heads);
    const auto turned_key = on_threads::rotate(call.executor, std::move(key), key_turn, options_.kv_heads);
    return output_(attend(turned_query, turned_key, value, call, mask, score), call.executor);
  }

  /// Frequencies that change with the length would mix in a cache of rotated keys: there, keys are kept as
  /// they are and all turned at every call.
  bool turns_late() const { return position::reads_length(options_.rotary->options().scaling); }

  template <class C>
  Matrix<Scalar> attended(const Matrix<Scalar>& query, const std::vector<Position>& positions, const C& cache,
                          const AttendOptions& call, const auto& mask, const auto& score) const {
    if (!options_.rotary || !turns_late()) return attend_cached(query, positions, cache, call, mask, score);
    if constexpr (requires { side_by_side(cache); }) {
      return attended_late(query, positions, side_by_side(cache), call, mask, score);
    } else {
      throw ShapeError(
          "MultiHeadAttention: a rotary scaling that reads the length of the text is given a cache that does "
          "not keep its texts side by side, expected a KeyValueCache or RollingCache");
    }
  }

  Matrix<Scalar> attended_late(const Matrix<Scalar>& query, const std::vector<Position>& positions,
                               const Cache& cache, const AttendOptions& options, const auto& mask,
                               const auto& score) const {
    const AttendOptions call = placed(options, positions, cache);
    std::vector<Index> lengths;
    for (Index s = 0; s < cache.sequences(); ++s) lengths.push_back(cache.next_position(s));
    const auto query_turn = turn(positions, call.query_rows, lengths, call.executor);
    const auto key_turn = turn(cache.positions(), cache.rows(), lengths, call.executor);
    return attend(rotate(query, query_turn, options_.heads, call.executor),
                  rotate(cache.key(), key_turn, options_.kv_heads, call.executor), cache.value(), call, mask,
                  score);
  }

  auto turn(std::span<const Position> positions, const RaggedRows& rows, const std::vector<Index>& lengths,
            const Executor& executor) const {
    return rotation<Scalar>(*options_.rotary, positions, rows, lengths, executor);
  }

  static void expect_columns(const char* name, Index got, Index expected) {
    if (got != expected) expect_equal(std::string("MultiHeadAttention: columns of ") + name, got, expected);
  }

  AttendOptions filled(const AttendOptions& options) const {
    if (options.heads != 1)
      expect_equal("MultiHeadAttention: heads of the call", options.heads, options_.heads);
    if (options.kv_heads != 0) {
      expect_equal("MultiHeadAttention: kv_heads of the call", options.kv_heads, options_.kv_heads);
    }
    AttendOptions call = options;
    call.heads = options_.heads;
    call.kv_heads = options_.kv_heads;
    if (!call.scale) call.scale = options_.scale;
    return call;
  }

  static void expect_cache_decides(const AttendOptions& options) {
    if (options.key_rows.whole() && !options.query_offset && options.query_positions.empty() &&
        options.key_positions.empty()) {
      return;
    }
    throw ShapeError(
        "MultiHeadAttention: positions or key_rows are given together with a cache, expected neither; the "
        "cache knows "
        "where its rows stand");
  }

  void expect_no_rotary() const {
    if (!options_.rotary) return;
    throw ShapeError(
        "MultiHeadAttention: a memory is given to a layer with rotary positions, expected a layer without");
  }

  static MultiHeadAttentionOptions completed(MultiHeadAttentionOptions o) {
    expect_positive("MultiHeadAttention: d_model", o.d_model);
    expect_positive("MultiHeadAttention: heads", o.heads);
    if (o.kv_heads == 0) o.kv_heads = o.heads;
    expect_positive("MultiHeadAttention: kv_heads", o.kv_heads);
    expect_multiple("MultiHeadAttention: heads", o.heads, o.kv_heads, "kv_heads");
    if (o.head_dim == 0) {
      expect_multiple("MultiHeadAttention: d_model", o.d_model, o.heads, "heads", "or set .head_dim");
      o.head_dim = o.d_model / o.heads;
    }
    if (o.value_dim == 0) o.value_dim = o.head_dim;
    if (o.key_width == 0) o.key_width = o.d_model;
    if (o.value_width == 0) o.value_width = o.d_model;
    if (o.rotary) {
      expect_equal("MultiHeadAttention: head_dim of rotary", o.rotary->options().head_dim, o.head_dim);
    }
    return o;
  }

  static void visit_all(auto& self, auto&& visit) {
    visit_part("query", self.query_, visit);
    visit_part("key", self.key_, visit);
    visit_part("value", self.value_, visit);
    visit_part("output", self.output_, visit);
  }

  MultiHeadAttentionOptions options_;
  Projection query_, key_, value_, output_;
};

}  // namespace headwise::layer
