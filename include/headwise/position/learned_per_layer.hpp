#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/parameter.hpp>
#include <headwise/core/random.hpp>
#include <headwise/position/add_positions.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace headwise::position {

struct LearnedPerLayerOptions {
  Index layers = 64;
  Index max_len = 512;  ///< L, the rows of each table
  Index d_model = 512;
  double stddev = 0.02;  ///< of the initial tables
};

/// Learned positions for every layer: each layer adds a table of its own before its attention, so that deep
/// layers still know where a token stands.
///
///     h^(n) + T^(n)[positions]        T^(n): [max_len, d_model], n = 0 .. layers - 1
///
/// A segment of a longer text ends where the table ends. Rows remembered from before it take the table's rows
/// just before the segment's; where the table has none left, its first row. Without memory, and with texts
/// that start at 0, give the positions. Cost: n d_model additions a layer; layers max_len d_model parameters.
/// Paper: Al-Rfou et al., "Character-Level Language Modeling with Deeper Self-Attention", 2018, "Positional
/// Embeddings"; with a memory as in the code of Dai et al., "Transformer-XL", 2019 (attn_type 3).
template <class Scalar_ = float>
class LearnedPerLayer {
 public:
  using Scalar = Scalar_;

  /// Throws ShapeError when layers, max_len or d_model is not positive.
  LearnedPerLayer(const LearnedPerLayerOptions& options, Rng& rng) : options_(options) {
    expect_positive("LearnedPerLayer: layers", options.layers);
    expect_positive("LearnedPerLayer: max_len", options.max_len);
    expect_positive("LearnedPerLayer: d_model", options.d_model);
    for (Index n = 0; n < options.layers; ++n)
      tables_.push_back({normal(options.max_len, options.d_model, Scalar(options.stddev), rng)});
  }

  /// x [n, d_model], positions [n] -> [n, d_model].
  /// Throws ShapeError when there is no such layer, when a position is not in the table, or when the sizes
  /// differ.
  auto operator()(const Sequence auto& x, Index layer, std::span<const Position> positions) const {
    return add_positions(x, table_of(layer), positions);
  }

  /// The current segment, which ends where the table ends.   x [q_len, d_model] -> [q_len, d_model].
  /// Throws ShapeError when there is no such layer, or the segment is longer than the table.
  auto operator()(const Sequence auto& x, Index layer) const {
    expect_segment_fits(x.rows());
    return add_positions(x, table_of(layer), rows_ending_before(options_.max_len, x.rows()));
  }

  /// The rows remembered from before a segment of q_len rows.   memory [memory_len, d_model] -> the same
  /// shape. Throws ShapeError when there is no such layer, or the segment is longer than the table.
  auto with_memory(const Sequence auto& memory, Index layer, Index q_len) const {
    expect_segment_fits(q_len);
    return add_positions(memory, table_of(layer),
                         rows_ending_before(options_.max_len - q_len, memory.rows()));
  }

  /// Visits "table.0" to "table.<layers - 1>", each [max_len, d_model].
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

  const LearnedPerLayerOptions& options() const noexcept { return options_; }

  /// T^(layer), [max_len, d_model]. Throws ShapeError when there is no such layer.
  const Matrix<Scalar>& table(Index layer) const { return table_of(layer).value; }

 private:
  static void visit_all(auto& self, auto&& visit) {
    for (std::size_t n = 0; n < self.tables_.size(); ++n)
      visit("table." + std::to_string(n), self.tables_[n]);
  }

  const Parameter<Scalar>& table_of(Index layer) const {
    if (layer < 0 || layer >= options_.layers) {
      fail_shape("LearnedPerLayer: layer", std::to_string(layer),
                 "0 to " + std::to_string(options_.layers - 1));
    }
    return tables_[std::size_t(layer)];
  }

  void expect_segment_fits(Index q_len) const {
    if (q_len >= 0 && q_len <= options_.max_len) return;
    fail_shape("LearnedPerLayer: rows of the segment", std::to_string(q_len),
               "at most " + std::to_string(options_.max_len) + " (max_len)",
               "cut the text into shorter segments");
  }

  /// The last `count` rows before `end`; the first row stands in for those that the table lacks.
  static std::vector<Position> rows_ending_before(Index end, Index count) {
    std::vector<Position> rows(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) rows[std::size_t(i)] = Position(std::max<Index>(0, end - count + i));
    return rows;
  }

  LearnedPerLayerOptions options_;
  std::vector<Parameter<Scalar>> tables_;
};

}  // namespace headwise::position
