#pragma once

#include <headwise/core/block_of.hpp>
#include <headwise/core/error.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/core/random.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace headwise::mask {

/// What RandomBlocks::draw draws. Blocks near the diagonal and at both ends are left out, because the other
/// parts of Big Bird see them already, and so are the queries of the blocks at the ends, which see
/// everything.
struct RandomBlocksOptions {
  Index block_size = 64;  ///< 1: single tokens, the form of the paper's section 2
  Index blocks = 0;       ///< ceil(seq_len / block_size)
  Index random = 3;       ///< drawn for each block of queries
  Index heads = 1;        ///< each draws its own; 1 may serve all
  std::uint64_t seed = 0;
  Index layer = 0;
  Index window = 1;           ///< blocks on each side of the diagonal that are not drawn
  Index first = 1, last = 1;  ///< blocks at the ends that neither draw nor are drawn
};

/// A few random blocks of keys for each block of queries: the part of Big Bird that makes any two tokens
/// neighbours of neighbours.
///
///     allows(query, key)  <=>  floor(key / block_size) in table[head][floor(query / block_size)]
///
/// The table is drawn from a seed, or handed in. It is a set: a block that is named twice counts once.
/// Cost: O(seq_len random block_size), exactly skipped. Throws ShapeError when the table does not fit its
/// sizes, names blocks that do not exist, is for other heads, or covers fewer tokens than a sequence has.
/// Paper: Zaheer et al., "Big Bird: Transformers for Longer Sequences", 2020, section 2.
class RandomBlocks {
 public:
  static constexpr bool reads_head = true;

  /// Most random blocks that one block of queries may have.
  static constexpr int capacity = 16;

  /// table [heads][blocks][random], row by row; -1 stands for no block, so that rows may hold fewer.
  RandomBlocks(Index block_size, Index blocks, Index heads, std::vector<Index> table)
      : block_size_(block_size), blocks_(blocks), heads_(heads), table_(std::move(table)) {
    expect_positive("RandomBlocks: block_size", block_size);
    expect_positive("RandomBlocks: blocks", blocks);
    expect_positive("RandomBlocks: heads", heads);
    expect_multiple("RandomBlocks: numbers in the table", Index(table_.size()), heads * blocks,
                    "heads * blocks", "give each block of queries of each head as many");
    random_ = Index(table_.size()) / (heads * blocks);
    if (random_ > capacity) {
      fail_shape("RandomBlocks: blocks drawn for one", std::to_string(random_),
                 "at most " + std::to_string(capacity));
    }
    for (std::size_t i = 0; i < table_.size(); ++i) {
      if (table_[i] >= -1 && table_[i] < blocks) continue;
      fail_shape("RandomBlocks: table[" + std::to_string(i) + "]", std::to_string(table_[i]),
                 "a block, 0 to " + std::to_string(blocks - 1) + ", or -1 for none");
    }
    sort_rows();
  }

  /// Draws the table: the same seed, layer, head and block give the same blocks on every machine.
  /// Throws ShapeError when a block of queries has fewer candidates than `random`.
  static RandomBlocks draw(const RandomBlocksOptions& o) {
    expect_positive("RandomBlocks: block_size", o.block_size);
    expect_positive("RandomBlocks: blocks", o.blocks);
    expect_positive("RandomBlocks: heads", o.heads);
    expect_not_negative("RandomBlocks: random", o.random);
    expect_not_negative("RandomBlocks: layer", o.layer);
    expect_not_negative("RandomBlocks: window", o.window);
    expect_not_negative("RandomBlocks: first", o.first);
    expect_not_negative("RandomBlocks: last", o.last);
    std::vector<Index> table;
    table.reserve(std::size_t(o.heads * o.blocks * o.random));
    for (Index head = 0; head < o.heads; ++head) {
      for (Index row = 0; row < o.blocks; ++row) {
        if (row < o.first || row >= o.blocks - o.last) {
          table.insert(table.end(), std::size_t(o.random), -1);
        } else {
          draw_row(o, head, row, table);
        }
      }
    }
    return RandomBlocks(o.block_size, o.blocks, o.heads, std::move(table));
  }

  struct Bound {
    const std::int32_t* table = nullptr;  ///< of the head: [blocks][random], each row sorted
    BlockOf block;
    Index blocks = 0, random = 0;

    bool allows(Index query, Index key) const noexcept {
      const std::int32_t* row = row_of(query);
      const Index of_key = block(key);
      int found = 0;
      for (Index i = 0; i < random; ++i) found |= int(row[i] == of_key);
      return found != 0;
    }

    Runs<capacity> runs(Index query) const noexcept {
      Runs<capacity> runs;
      const std::int32_t* row = row_of(query);
      for (Index i = 0; i < random; ++i)
        if (row[i] >= 0) runs.append({row[i] * block.size(), (row[i] + 1) * block.size()});
      return runs;
    }

    Coverage coverage(Tile tile) const noexcept {
      bool any = false, all = true;
      for (Index b = block(tile.queries.begin); b <= block(tile.queries.end - 1); ++b) {
        for (Index k = block(tile.keys.begin); k <= block(tile.keys.end - 1); ++k) {
          const bool seen = allows(b * block.size(), k * block.size());
          any = any || seen;
          all = all && seen;
        }
      }
      return !any ? Coverage::none : all ? Coverage::full : Coverage::partial;
    }

   private:
    const std::int32_t* row_of(Index query) const noexcept {
      return table + std::clamp<Index>(block(query), 0, blocks - 1) * random;
    }
  };

  Bound bind(const Context& context) const noexcept {
    return {sorted_.data() + (heads_ == 1 ? 0 : context.head) * blocks_ * random_, BlockOf(block_size_),
            blocks_, random_};
  }

  void check(const Context& context) const { check(context, "RandomBlocks"); }

  /// The same for a mask or score that has such a table, in errors of its own name.
  void check(const Context& context, const std::string& owner) const {
    if (heads_ != 1) expect_equal(owner + ": heads", heads_, context.heads, "1 shares a table");
    for (const Range rows : {context.query_rows, context.key_rows}) {
      if (rows.size() <= blocks_ * block_size_) continue;
      fail_shape(owner + ": blocks * block_size", std::to_string(blocks_ * block_size_),
                 "at least " + std::to_string(rows.size()) + ", the tokens of sequence " +
                     std::to_string(context.sequence),
                 "draw a table for the longest sequence");
    }
  }

  /// As handed in or drawn: the i-th random block of a block of queries, or -1.
  Index at(Index head, Index row, Index i) const noexcept {
    return table_[std::size_t(((heads_ == 1 ? 0 : head) * blocks_ + row) * random_ + i)];
  }

  Index block_size() const noexcept { return block_size_; }
  Index blocks() const noexcept { return blocks_; }
  Index heads() const noexcept { return heads_; }
  Index random() const noexcept { return random_; }

 private:
  static void draw_row(const RandomBlocksOptions& o, Index head, Index row, std::vector<Index>& table) {
    std::vector<Index> candidates;
    for (Index b = o.first; b < o.blocks - o.last; ++b)
      if (b < row - o.window || b > row + o.window) candidates.push_back(b);
    if (Index(candidates.size()) < o.random) {
      fail_shape("RandomBlocks: candidates for block " + std::to_string(row),
                 std::to_string(candidates.size()), "at least " + std::to_string(o.random) + " (random)",
                 "take smaller blocks, fewer random ones, or full attention");
    }
    for (Index i = 0; i < o.random; ++i) {
      const std::uint32_t word =
          philox({std::uint32_t(i), std::uint32_t(row), std::uint32_t(head), std::uint32_t(o.layer)},
                 philox_key(o.seed))[0];
      const std::uint64_t left = candidates.size() - std::size_t(i);
      std::swap(candidates[std::size_t(i)], candidates[std::size_t(i) + ((word * left) >> 32)]);
      table.push_back(candidates[std::size_t(i)]);
    }
  }

  /// Rows in order, so that runs are; a block that is named again becomes none.
  void sort_rows() {
    constexpr std::int32_t none = std::numeric_limits<std::int32_t>::min();
    sorted_.assign(table_.begin(), table_.end());
    for (Index row = 0; random_ > 0 && row < heads_ * blocks_; ++row) {
      const auto begin = sorted_.begin() + row * random_, end = begin + random_;
      std::replace(begin, end, std::int32_t(-1), none);
      std::sort(begin, end);
      for (auto i = begin; i + 1 < end; ++i)
        if (*i == *(i + 1)) *i = none;
      std::sort(begin, end);
    }
  }

  Index block_size_, blocks_, heads_, random_ = 0;
  std::vector<Index> table_;
  std::vector<std::int32_t> sorted_;
};

}  // namespace headwise::mask
