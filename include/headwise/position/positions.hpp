#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/ragged_rows.hpp>

#include <limits>
#include <string>
#include <vector>

namespace headwise::position {

/// first, first + 1, ..., first + count - 1: a text that starts at `first`, say the length of the cache
/// before it. Throws ShapeError when count is negative or a position does not fit 32 bits.
inline std::vector<Position> consecutive(Index count, Index first = 0) {
  expect_not_negative("consecutive: count", count);
  constexpr Index least = std::numeric_limits<Position>::min(), most = std::numeric_limits<Position>::max();
  if (first < least || first > most - count) {
    fail_shape("consecutive: first", std::to_string(first), "positions within 32 bits");
  }
  std::vector<Position> positions(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) positions[std::size_t(i)] = Position(first + i);
  return positions;
}

/// One position a row of a ragged batch: every sequence counts from `first`.
/// Throws ShapeError when a position does not fit 32 bits, or when the batch has no borders and so no known
/// length.
inline std::vector<Position> within_sequences(const RaggedRows& rows, Index first = 0) {
  if (rows.whole()) throw ShapeError("within_sequences: rows has no borders, expected them; use consecutive");
  std::vector<Position> positions;
  positions.reserve(std::size_t(rows.rows()));
  for (Index s = 0; s < rows.sequences(); ++s) {
    const auto sequence = consecutive(rows[s].size(), first);
    positions.insert(positions.end(), sequence.begin(), sequence.end());
  }
  return positions;
}

}  // namespace headwise::position
