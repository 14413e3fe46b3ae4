#pragma once

#include <headwise/core/block_of.hpp>
#include <headwise/core/error.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/kernel/plan.hpp>

#include <algorithm>

namespace headwise::mask {

/// Local attention in blocks: the queries of a block share one span of keys, the block and its surroundings.
///
///     B(query) = floor(query / query_block) query_block
///     allows(query, key)  <=>  B(query) - memory <= key < B(query) + query_block + memory
///
/// The 1D local attention of the Image Transformer is LocalBlock{...} && Causal{}: its memory is measured
/// from the start of the block, so a query sees memory + 1 to memory + query_block keys. A last block may be
/// short. LocalBlock{.query_block = b, .memory = b} is a block and its two neighbours, the window of Big
/// Bird; with .memory = 0, attention within blocks. Cost: O(seq_len (query_block + 2 memory)), exactly
/// skipped. Throws ShapeError for a query_block below 1 or a negative memory. Paper: Parmar et al., "Image
/// Transformer", 2018, section 3.3.
struct LocalBlock {
  Index query_block = 256;
  Index memory = 256;  ///< keys before the block, and after it unless the mask is joined with Causal

  struct Bound {
    BlockOf block;
    Index memory;

    constexpr bool allows(Index query, Index key) const noexcept {
      const Index from_start = key - block(query) * block.size();
      return -memory <= from_start && from_start < block.size() + memory;
    }

    constexpr Runs<1> runs(Index query) const noexcept {
      const Range span = seen(query);
      return single_run(span.begin, span.end);
    }

    /// Spans move on with the block and touch or overlap, so the first and the last query decide.
    constexpr Coverage coverage(Tile tile) const noexcept {
      const Range first = seen(tile.queries.begin), last = seen(tile.queries.end - 1);
      if (tile.keys.end <= first.begin || last.end <= tile.keys.begin) return Coverage::none;
      return Range{last.begin, first.end}.contains(tile.keys) ? Coverage::full : Coverage::partial;
    }

   private:
    constexpr Range seen(Index query) const noexcept {
      const Index start = block(query) * block.size();
      const Index reach = std::min(memory, every_key.end / 2);
      return {start - reach, start + block.size() + reach};
    }
  };

  constexpr Bound bind(const Context&) const noexcept { return {BlockOf(query_block), memory}; }

  void check(const Context&) const {
    expect_positive("LocalBlock: query_block", query_block);
    expect_not_negative("LocalBlock: memory", memory);
  }

  /// The pairs of a sequence of `length` tokens, for attend_over: one item a block.
  Plan plan(Index length) const {
    check({});
    expect_not_negative("LocalBlock: length", length);
    const Index reach = std::min(memory, length);
    Plan plan;
    for (Index begin = 0; begin < length; begin += query_block) {
      const Index end = std::min(begin + query_block, length);
      const Range keys{std::max<Index>(0, begin - reach), std::min(begin + query_block + reach, length)};
      plan.items.push_back({RowList::contiguous({begin, end}), RowList::contiguous(keys)});
    }
    return plan;
  }
};

}  // namespace headwise::mask
