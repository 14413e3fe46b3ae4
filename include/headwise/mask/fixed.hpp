#pragma once

#include <headwise/core/block_of.hpp>
#include <headwise/core/error.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/kernel/plan.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace headwise::mask {

/// The last tokens of every block, seen by all: the second half of the Sparse Transformer's fixed pattern.
///
///     allows(query, key)  <=>  stride - skip - summaries <= key mod stride < stride - skip
///
/// The paper's set is Fixed{l, c} && Causal{}; its first half, the own block, is LocalBlock{l, .memory = 0},
/// and both in one head are (LocalBlock{l, 0} || Fixed{l, c}) && Causal{}. Alone, the first queries of a
/// causal sequence see nothing. Cost: O(seq_len^2 summaries / stride), over a plan or without. Throws
/// ShapeError unless 1 <= summaries <= stride - skip. Paper: Child et al., "Generating Long Sequences with
/// Sparse Transformers", 2019, section 4.3.
struct Fixed {
  static constexpr bool reads_query = false;

  Index stride = 128;   ///< l, the length of a block
  Index summaries = 8;  ///< c, the tokens of a block that summarise it
  Index skip = 0;       ///< tokens between them and the end of the block

  struct Bound {
    static constexpr bool reads_query = false;

    BlockOf block;
    Index first, end;  ///< within a block

    constexpr bool allows(Index, Index key) const noexcept {
      const Index place = block.rest(key);
      return first <= place && place < end;
    }

    constexpr Coverage coverage(Tile tile) const noexcept {
      const Index seen = before(tile.keys.end) - before(tile.keys.begin);
      if (seen == 0) return Coverage::none;
      return seen == tile.keys.size() ? Coverage::full : Coverage::partial;
    }

   private:
    /// Summaries before a key, counted from the origin.
    constexpr Index before(Index key) const noexcept {
      return block(key) * (end - first) + std::clamp<Index>(block.rest(key) - first, 0, end - first);
    }
  };

  constexpr Bound bind(const Context&) const noexcept {
    return {BlockOf(stride), stride - skip - summaries, stride - skip};
  }

  void check(const Context&) const {
    expect_positive("Fixed: stride", stride);
    expect_positive("Fixed: summaries", summaries);
    expect_not_negative("Fixed: skip", skip);
    if (skip + summaries <= stride) return;
    fail_shape("Fixed: skip + summaries", std::to_string(skip + summaries),
               "at most " + std::to_string(stride) + " (stride)", "summaries lie within one block");
  }

  /// The pairs of a sequence of `length` tokens, for attend_over: all queries, a compact list of keys.
  Plan plan(Index length) const {
    return {{{RowList::contiguous({0, length}), RowList::of(summaries_before(length, length))}}};
  }

  /// The pairs of LocalBlock{stride, 0} || Fixed: one item a block, its keys the own block and the summaries
  /// of all others, each once. With Causal this is the merged head of the paper.
  Plan plan_with_own_block(Index length) const {
    const std::vector<Index> all = summaries_before(length, length);
    Plan plan;
    for (Index begin = 0; begin < length; begin += stride) {
      const Range own{begin, std::min(begin + stride, length)};
      std::vector<Index> keys;
      keys.reserve(all.size() + std::size_t(own.size()));
      const auto first = std::lower_bound(all.begin(), all.end(), own.begin);
      const auto last = std::lower_bound(first, all.end(), own.end);
      keys.assign(all.begin(), first);
      for (Index key = own.begin; key < own.end; ++key) keys.push_back(key);
      keys.insert(keys.end(), last, all.end());
      plan.items.push_back({RowList::contiguous(own), RowList::of(std::move(keys))});
    }
    return plan;
  }

 private:
  std::vector<Index> summaries_before(Index end, Index length) const {
    check({});
    expect_not_negative("Fixed: length", length);
    std::vector<Index> keys;
    for (Index block = 0; block < end; block += stride)
      for (Index i = stride - skip - summaries; i < stride - skip && block + i < end; ++i)
        keys.push_back(block + i);
    return keys;
  }
};

/// Fixed with summaries of their own for each head, which the paper prefers to one shared set.
///
///     t = head mod sub_blocks:   Fixed{stride, summaries, .skip = t summaries}
///
/// Cost: as Fixed. Throws ShapeError unless sub_blocks * summaries <= stride and sub_blocks divides the
/// heads. Paper: Child et al., 2019, section 4.3 and the released code.
struct FixedPerHead {
  static constexpr bool reads_query = false;
  static constexpr bool reads_head = true;

  Index stride = 128;
  Index summaries = 8;
  Index sub_blocks = 4;  ///< different sets of summaries

  constexpr Fixed of(Index head) const noexcept {
    return {stride, summaries, (head % sub_blocks) * summaries};
  }

  constexpr Fixed::Bound bind(const Context& context) const noexcept {
    return of(context.head).bind(context);
  }

  void check(const Context& context) const {
    check_sizes();
    expect_multiple("FixedPerHead: heads", context.heads, sub_blocks, "sub_blocks");
  }

  Plan plan(Index length, Index head) const {
    check_sizes();
    return of(head).plan(length);
  }
  Plan plan_with_own_block(Index length, Index head) const {
    check_sizes();
    return of(head).plan_with_own_block(length);
  }

 private:
  void check_sizes() const {
    expect_positive("FixedPerHead: stride", stride);
    expect_positive("FixedPerHead: summaries", summaries);
    expect_positive("FixedPerHead: sub_blocks", sub_blocks);
    if (sub_blocks * summaries <= stride) return;
    fail_shape("FixedPerHead: sub_blocks * summaries", std::to_string(sub_blocks * summaries),
               "at most " + std::to_string(stride) + " (stride)", "each head has its own part of the block");
  }
};

}  // namespace headwise::mask
