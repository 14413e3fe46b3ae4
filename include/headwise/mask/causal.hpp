#pragma once

#include <headwise/core/policy.hpp>

namespace headwise::mask {

/// A token sees itself and all tokens before it.
///
///     allows(query, key)  <=>  key <= query
///
/// Positions are absolute, so one mask serves training, chunks of a text, and decoding with a cache.
/// Cost: half of the pairs. Throws nothing.
/// Paper: Vaswani et al., "Attention Is All You Need", 2017, section 3.2.3.
struct Causal {
  constexpr bool allows(Index query, Index key) const noexcept { return key <= query; }

  constexpr Coverage coverage(Tile tile) const noexcept {
    if (tile.keys.begin > tile.queries.end - 1) return Coverage::none;
    return tile.keys.end - 1 <= tile.queries.begin ? Coverage::full : Coverage::partial;
  }

  constexpr Runs<1> runs(Index query) const noexcept { return single_run(every_key.begin, query + 1); }
};

}  // namespace headwise::mask
