#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/core/ragged_rows.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headwise::layer {

/// The keys and values that attention has seen: a value, moved in and out of a call, one for each layer.
///
/// Keys are stored as attention compares them, rotated already at their own position where the layer rotates.
/// Each row carries its position, and each sequence the position of its next token, so that rows can be
/// dropped and what remains keeps its true place. Cost: a token of one sequence is appended in amortised
/// O(width); in a batch every append moves the rows behind it.
template <class Scalar>
class KeyValueCache {
 public:
  Index size() const noexcept { return Index(positions_.size()); }
  bool empty() const noexcept { return positions_.empty(); }

  /// 0 until the first append, which decides it.
  Index sequences() const noexcept { return Index(next_.size()); }

  /// Which rows of key() and value() belong to which sequence.
  const RaggedRows& rows() const noexcept { return rows_; }

  ConstMatrixRef<Scalar> key() const noexcept { return key_.topRows(size()); }
  ConstMatrixRef<Scalar> value() const noexcept { return value_.topRows(size()); }

  /// One position a row, ascending within a sequence.
  std::span<const Position> positions() const noexcept { return positions_; }

  /// Where the next token of a sequence stands, whatever was dropped.
  Position next_position(Index sequence) const { return sequences() == 0 ? 0 : next_[std::size_t(sequence)]; }

  /// True until rows were dropped: row i of each sequence stands at position i.
  bool complete() const noexcept { return complete_; }

  /// Positions for `rows` new tokens a sequence: each goes on where its sequence ends.
  /// Throws ShapeError when the cache serves another number of sequences.
  std::vector<Position> next_positions(const RaggedRows& rows) const {
    expect_sequences(rows);
    std::vector<Position> positions;
    positions.reserve(std::size_t(rows.rows()));
    for (Index s = 0; s < rows.sequences(); ++s) {
      const Index first = next_position(s);
      if (first + rows[s].size() > std::numeric_limits<Position>::max()) {
        fail_shape("KeyValueCache: position", std::to_string(first + rows[s].size()), "below 2^31");
      }
      for (Index i = 0; i < rows[s].size(); ++i) positions.push_back(Position(first + i));
    }
    return positions;
  }

  /// Appends new rows to each sequence.   key [n, key_width], value [n, value_width], rows: their sequences.
  /// Throws ShapeError when widths or the number of sequences differ from what is cached; nothing is changed
  /// then.
  void append(const ConstMatrixRef<Scalar>& key, const ConstMatrixRef<Scalar>& value,
              const RaggedRows& rows) {
    expect_equal("KeyValueCache: key rows", key.rows(), rows.rows());
    expect_equal("KeyValueCache: value rows", value.rows(), rows.rows());
    if (sequences() > 0) {
      expect_equal("KeyValueCache: columns of key", key.cols(), key_.cols());
      expect_equal("KeyValueCache: columns of value", value.cols(), value_.cols());
    }
    const std::vector<Position> added = next_positions(rows);
    if (sequences() == 0) adopt(key.cols(), value.cols(), rows.sequences());
    reserve(size() + rows.rows());
    positions_.resize(positions_.size() + added.size());
    make_room(key, value, rows, added);
  }

  /// Drops every row for which keep(sequence, position) is false; the others keep their positions.
  ///
  ///     cache.retain([&](Index s, Position p) { return p < 4 || p >= cache.next_position(s) - 256; });   //
  ///     4 sinks
  template <class Keep>
  void retain(Keep keep) {
    std::vector<Index> offsets{0};
    Index kept = 0;
    for (Index s = 0; s < sequences(); ++s) {
      for (Index row = rows_[s].begin; row < rows_[s].end; ++row) {
        if (!keep(s, positions_[std::size_t(row)])) continue;
        move_row(row, kept++);
      }
      offsets.push_back(kept);
    }
    complete_ = complete_ && kept == size();
    positions_.resize(std::size_t(kept));
    if (sequences() > 0) rows_ = RaggedRows::from_offsets(std::move(offsets));
  }

 private:
  void expect_sequences(const RaggedRows& rows) const {
    if (sequences() == 0) return;
    expect_equal("KeyValueCache: sequences", rows.sequences(), sequences(),
                 "give each sequence its rows, or none");
  }

  void adopt(Index key_width, Index value_width, Index sequences) {
    key_.resize(0, key_width);
    value_.resize(0, value_width);
    next_.assign(std::size_t(sequences), 0);
    rows_ = RaggedRows::uniform(sequences, 0);
  }

  void reserve(Index rows) {
    if (rows <= key_.rows()) return;
    const Index capacity = std::max(rows, 2 * key_.rows());
    key_.conservativeResize(capacity, Eigen::NoChange);
    value_.conservativeResize(capacity, Eigen::NoChange);
  }

  void move_row(Index from, Index to) {
    if (from == to) return;
    key_.row(to) = key_.row(from);
    value_.row(to) = value_.row(from);
    positions_[std::size_t(to)] = positions_[std::size_t(from)];
  }

  /// From the last row to the first, so that no row is overwritten before it has moved.
  void make_room(const ConstMatrixRef<Scalar>& key, const ConstMatrixRef<Scalar>& value,
                 const RaggedRows& rows, const std::vector<Position>& added) {
    std::vector<Index> offsets(std::size_t(sequences()) + 1, 0);
    for (Index s = 0; s < sequences(); ++s) {
      offsets[std::size_t(s) + 1] = offsets[std::size_t(s)] + rows_[s].size() + rows[s].size();
    }
    for (Index s = sequences() - 1; s >= 0; --s) {
      const Range old = rows_[s], fresh = rows[s];
      const Index begin = offsets[std::size_t(s)], border = begin + old.size();
      for (Index i = old.size() - 1; i >= 0; --i) move_row(old.begin + i, begin + i);
      key_.middleRows(border, fresh.size()) = key.middleRows(fresh.begin, fresh.size());
      value_.middleRows(border, fresh.size()) = value.middleRows(fresh.begin, fresh.size());
      std::copy_n(added.begin() + fresh.begin, fresh.size(), positions_.begin() + border);
      next_[std::size_t(s)] += Position(fresh.size());
    }
    rows_ = RaggedRows::from_offsets(std::move(offsets));
  }

  Matrix<Scalar> key_, value_;  // more rows than in use: capacity
  std::vector<Position> positions_, next_;
  RaggedRows rows_;
  bool complete_ = true;
};

/// What attention goes on from: keys and values of texts, wherever they are kept. Beside these members a kind
/// of cache has
///
///     attend_cached(query, positions, cache, options, mask, score) -> [n, heads * value_dim]
///
/// in its own namespace: n new rows, whose positions next_positions() said before they were appended, look at
/// all that is kept of their texts. KeyValueCache, RollingCache and PagedCache are such, and give the same
/// numbers.
template <class C, class Scalar>
concept AttentionCache = std::copyable<C> && std::default_initializable<C> &&
    requires(C& cache, const C& kept, const ConstMatrixRef<Scalar>& rows, const RaggedRows& texts) {
  { kept.empty() } -> std::convertible_to<bool>;
  { kept.next_positions(texts) } -> std::same_as<std::vector<Position>>;
  cache.append(rows, rows, texts);
};

/// What a call that goes on from a cache returns.
template <class Output, class Cache>
struct Cached {
  Output output;
  Cache cache;
};

}  // namespace headwise::layer
