#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/tile.hpp>

#include <cassert>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace headwise {

/// A batch of sequences of any lengths, stacked row under row in one matrix: sequence s owns rows [offset(s),
/// offset(s + 1)). Nothing attends across a border, and no padding is ever needed. Empty sequences are
/// allowed.
class RaggedRows {
 public:
  /// No border at all: the whole matrix is one sequence.
  RaggedRows() = default;

  /// offsets [sequences + 1], starting at 0, never decreasing. Throws ShapeError otherwise.
  static RaggedRows from_offsets(std::vector<Index> offsets) {
    if (offsets.empty()) throw ShapeError("RaggedRows: offsets is empty, expected sequences + 1 numbers");
    expect_equal("RaggedRows: offsets[0]", offsets.front(), 0);
    for (std::size_t i = 1; i < offsets.size(); ++i) {
      if (offsets[i] < offsets[i - 1]) {
        fail_shape("RaggedRows: offsets[" + std::to_string(i) + "]", std::to_string(offsets[i]),
                   "at least " + std::to_string(offsets[i - 1]), "offsets never decrease");
      }
    }
    RaggedRows rows;
    rows.offsets_ = std::move(offsets);
    return rows;
  }

  /// One length a sequence. Throws ShapeError for a negative one.
  static RaggedRows from_lengths(const std::vector<Index>& lengths) {
    RaggedRows rows;
    rows.offsets_.assign(1, 0);
    rows.offsets_.reserve(lengths.size() + 1);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const Index length = lengths[i];
      if (length < 0) expect_not_negative("RaggedRows: lengths[" + std::to_string(i) + "]", length);
      if (length > std::numeric_limits<Index>::max() - rows.offsets_.back()) {
        fail_shape("RaggedRows: sum of lengths", "beyond the range of Index", "a number of rows");
      }
      rows.offsets_.push_back(rows.offsets_.back() + length);
    }
    return rows;
  }
  static RaggedRows from_lengths(std::initializer_list<Index> lengths) {
    return from_lengths(std::vector<Index>(lengths));
  }

  /// `count` sequences of equal length.
  static RaggedRows uniform(Index count, Index length) {
    expect_not_negative("RaggedRows: count", count);
    expect_not_negative("RaggedRows: length", length);
    return from_lengths(std::vector<Index>(std::size_t(count), length));
  }

  /// True when no borders were given, so that the whole matrix is one sequence.
  bool whole() const noexcept { return offsets_.empty(); }
  Index sequences() const noexcept { return whole() ? 1 : Index(offsets_.size()) - 1; }
  Index rows() const noexcept { return whole() ? 0 : offsets_.back(); }
  /// The rows of one sequence. Only of borders said out loud: `whole()` must be false.
  Range operator[](Index sequence) const {
    assert(0 <= sequence && sequence + 1 < Index(offsets_.size()));
    return {offsets_[std::size_t(sequence)], offsets_[std::size_t(sequence) + 1]};
  }
  const std::vector<Index>& offsets() const noexcept { return offsets_; }

  /// The same borders said out loud: a whole matrix of `rows` rows becomes one sequence; given borders must
  /// add up. Throws ShapeError, naming `what`, when they do not.
  RaggedRows over(Index matrix_rows, const std::string& what) const {
    if (whole()) return from_lengths({matrix_rows});
    expect_equal(what + " rows", matrix_rows, rows(), "the lengths of its sequences must add up to its rows");
    return *this;
  }

 private:
  std::vector<Index> offsets_;
};

}  // namespace headwise
