#pragma once

#include <headwise/core/block_of.hpp>
#include <headwise/core/error.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/kernel/plan.hpp>

#include <algorithm>

namespace headwise::mask {

/// Every stride-th token, counted from the query: the second half of the Sparse Transformer's strided
/// pattern.
///
///     allows(query, key)  <=>  (query - key) mod stride = 0
///
/// The paper's set is Strided{l} && Causal{}; its first half is SlidingWindow{l} (l + 1 with the paper's
/// formula, l in the released code), and both in one head are SlidingWindow{l} || (Strided{l} && Causal{}).
/// Dilated windows are Band{...} && Strided{...}.
/// Cost: O(seq_len^2 / stride) over its plan, which gathers each class of tokens into a small dense problem;
/// without the plan, tiles that hold a visible pair are computed whole. Throws ShapeError for a stride
/// below 1. Paper: Child et al., "Generating Long Sequences with Sparse Transformers", 2019, section 4.3.
struct Strided {
  Index stride = 128;

  struct Bound {
    BlockOf classes;

    constexpr bool allows(Index query, Index key) const noexcept { return classes.rest(query - key) == 0; }

    /// A tile holds every difference from its one corner to the opposite one.
    constexpr Coverage coverage(Tile tile) const noexcept {
      const Index least = tile.queries.begin - (tile.keys.end - 1);
      const Index most = (tile.queries.end - 1) - tile.keys.begin;
      if (classes.size() == 1) return Coverage::full;
      if (most - classes.rest(most) < least) return Coverage::none;
      return least == most ? Coverage::full : Coverage::partial;
    }
  };

  constexpr Bound bind(const Context&) const noexcept { return {BlockOf(stride)}; }

  void check(const Context&) const { expect_positive("Strided: stride", stride); }

  /// The pairs of a sequence of `length` tokens, for attend_over: one item a class of tokens, an affine list.
  Plan plan(Index length) const {
    check({});
    expect_not_negative("Strided: length", length);
    Plan plan;
    for (Index first = 0; first < std::min(stride, length); ++first) {
      const RowList rows = RowList::affine(first, stride, (length - first - 1) / stride + 1);
      plan.items.push_back({rows, rows});
    }
    return plan;
  }
};

}  // namespace headwise::mask
