#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/policy.hpp>

namespace headwise::mask {

/// Causal sliding window: a token sees itself and the `width - 1` tokens before it.
///
///     allows(query, key)  <=>  0 <= query - key < width
///
/// Positions are absolute: one mask serves training, decoding with a cache, and segment memory.
/// Cost: O(seq_len * width) instead of O(seq_len^2). Throws ShapeError for a negative width; a width of 0
/// hides every key. Paper: Beltagy et al., "Longformer: The Long-Document Transformer", 2020, section 3.1.
struct SlidingWindow {
  Index width = 256;

  constexpr bool allows(Index query, Index key) const noexcept {
    const Index distance = query - key;
    return 0 <= distance && distance < width;
  }

  /// The distance is smallest in one corner of a tile and largest in the opposite one, so two subtractions
  /// decide a tile that the band enters or fills.
  constexpr Coverage coverage(Tile tile) const noexcept {
    const Index nearest = tile.queries.begin - (tile.keys.end - 1);
    const Index farthest = (tile.queries.end - 1) - tile.keys.begin;
    if (farthest < 0 || nearest >= width || width < 1) return Coverage::none;
    return nearest >= 0 && farthest < width ? Coverage::full : Coverage::partial;
  }

  /// A width beyond every length stays one: sums with it must not overflow.
  constexpr Runs<1> runs(Index query) const noexcept {
    return single_run(query + 1 - std::min(width, every_key.end / 2), query + 1);
  }

  void check(const Context&) const { expect_not_negative("SlidingWindow: width", width); }
};

}  // namespace headwise::mask
