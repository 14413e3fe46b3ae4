#pragma once

#include <headwise/core/policy.hpp>

namespace headwise::mask {

/// Every query sees every key.
///
///     allows(query, key)  <=>  true
///
/// What an encoder and cross-attention use, and what `attend` takes when no mask is given.
/// Cost: all pairs. Throws nothing.
/// Paper: Vaswani et al., "Attention Is All You Need", 2017, section 3.2.1.
struct None {
  static constexpr bool reads_query = false;

  constexpr bool allows(Index, Index) const noexcept { return true; }
  constexpr Coverage coverage(Tile) const noexcept { return Coverage::full; }
  constexpr Runs<1> runs(Index) const noexcept { return single_run(every_key.begin, every_key.end); }
};

}  // namespace headwise::mask
