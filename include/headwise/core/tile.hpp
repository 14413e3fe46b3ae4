#pragma once

#include <headwise/core/matrix.hpp>

#include <algorithm>

namespace headwise {

/// Half-open: begin <= i < end.
struct Range {
  Index begin = 0, end = 0;

  constexpr Index size() const noexcept { return std::max<Index>(0, end - begin); }
  constexpr bool empty() const noexcept { return end <= begin; }
  constexpr bool contains(Index i) const noexcept { return begin <= i && i < end; }
  constexpr bool contains(Range other) const noexcept {
    return other.empty() || (begin <= other.begin && other.end <= end);
  }
  friend constexpr bool operator==(Range, Range) = default;
};

constexpr Range intersect(Range a, Range b) noexcept {
  const Index begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

/// A rectangle of the score matrix, in the coordinates of the policy that is asked about it.
struct Tile {
  Range queries, keys;
};

/// What a mask says of a whole tile: skip it, test every pair, or trust every pair.
enum class Coverage { none, partial, full };

}  // namespace headwise
