#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/policy.hpp>

namespace headwise::mask {

/// A window to both sides: a token sees `left` tokens before it, itself, and `right` tokens after it.
///
///     allows(query, key)  <=>  -left <= key - query <= right
///
/// Both ends are inclusive. Longformer's window w is Band{.left = w / 2, .right = w / 2}; Band{.left = n,
/// .right = 0} is SlidingWindow{.width = n + 1}. Cost: O(seq_len * (left + right + 1)). Throws ShapeError for
/// a negative size: it never means "unlimited". Paper: Beltagy et al., "Longformer: The Long-Document
/// Transformer", 2020, section 3.1.
struct Band {
  Index left = 128, right = 128;

  constexpr bool allows(Index query, Index key) const noexcept {
    const Index ahead = key - query;
    return -left <= ahead && ahead <= right;
  }

  /// key - query is smallest in one corner of a tile and largest in the opposite one.
  constexpr Coverage coverage(Tile tile) const noexcept {
    const Index lowest = tile.keys.begin - (tile.queries.end - 1);
    const Index highest = (tile.keys.end - 1) - tile.queries.begin;
    if (highest < -left || lowest > right) return Coverage::none;
    return lowest >= -left && highest <= right ? Coverage::full : Coverage::partial;
  }

  /// A size beyond every length stays one: sums with it must not overflow.
  constexpr Runs<1> runs(Index query) const noexcept {
    constexpr Index farthest = every_key.end / 2;
    return single_run(query - std::min(left, farthest), query + std::min(right, farthest) + 1);
  }

  void check(const Context&) const {
    constexpr auto remedy = "for no limit on one side write Causal, !Causal or None";
    expect_not_negative("Band: left", left, remedy);
    expect_not_negative("Band: right", right, remedy);
  }
};

}  // namespace headwise::mask
