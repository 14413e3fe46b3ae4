#pragma once

#include <headwise/mask/algebra.hpp>
#include <headwise/mask/global_tokens.hpp>
#include <headwise/mask/local_block.hpp>
#include <headwise/mask/random_blocks.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace headwise::mask {

/// Big Bird: a window of three blocks, a global block at either end, and a few random blocks.
///
///     I, J: the blocks of query and key, n blocks in all;   allows(query, key)  <=>
///         |I - J| <= 1   or   I or J in {0, n - 1}   or   J in random[head][I]
///
/// A composition, LocalBlock || GlobalBlocks || RandomBlocks, and like every mask joined with others by the
/// algebra. Its plan lists the keys of each block of queries, so that nothing hidden is judged. The last
/// block may be short; bidirectional by nature. A table for longer texts serves shorter ones, of fewer random
/// blocks: those that lie beyond the text are none. Cost: (5 + random) block_size keys a query and 2
/// block_size seq_len for the global rows. Throws ShapeError when the table is for other heads or shorter
/// texts, or when queries and keys differ in number. Paper: Zaheer et al., "Big Bird: Transformers for Longer
/// Sequences", 2020, section 2 and appendix D.
class BigBird {
 public:
  static constexpr bool reads_head = true;

  explicit BigBird(RandomBlocks random)
      : mask_(LocalBlock{.query_block = random.block_size(), .memory = random.block_size()} ||
              GlobalBlocks{.block_size = random.block_size(), .first = 1, .last = 1} || std::move(random)) {}

  auto bind(const Context& context) const { return bind_mask(mask_, context); }
  void check(const Context& context) const {
    expect_equal("BigBird: number of queries", context.query_rows.size(), context.key_rows.size(),
                 "Big Bird is self-attention");
    random().check(context, "BigBird");
  }

  /// The pairs of a sequence of `length` tokens, for attend_over: one item a block of queries, its keys the
  /// listed blocks, each once.
  Plan plan(Index length, Index head) const {
    return plan(length, head, [](std::vector<Index>& blocks) {
      std::sort(blocks.begin(), blocks.end());
      blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    });
  }

  /// The same as the published block-sparse code counts: a random block that the window or a global block
  /// covers already counts once more. For weights that were trained with it.
  Plan plan_with_repeats(Index length, Index head) const {
    return plan(length, head, [](std::vector<Index>&) {});
  }

  const RandomBlocks& random() const noexcept { return mask_.b; }

 private:
  using Parts = decltype(LocalBlock{} || GlobalBlocks{} || std::declval<RandomBlocks>());

  Plan plan(Index length, Index head, auto&& arrange) const {
    expect_not_negative("BigBird: length", length);
    const Index size = random().block_size(), n = (length + size - 1) / size;
    if (n > random().blocks()) {
      fail_shape("BigBird: blocks of the table", std::to_string(random().blocks()),
                 "at least " + std::to_string(n) + " for " + std::to_string(length) + " tokens");
    }
    Plan plan;
    for (Index row = 0; row < n; ++row) {
      const RowList queries = RowList::contiguous({row * size, std::min((row + 1) * size, length)});
      if (row == 0 || row == n - 1) {
        plan.items.push_back({queries, RowList::contiguous({0, length})});
        continue;
      }
      std::vector<Index> blocks = window_and_ends(row, n);
      for (Index i = 0; i < random().random(); ++i)
        if (const Index b = random().at(head, row, i); 0 <= b && b < n) blocks.push_back(b);
      arrange(blocks);
      plan.items.push_back({queries, RowList::of(tokens_of(blocks, size, length))});
    }
    return plan;
  }

  /// Each block once.
  static std::vector<Index> window_and_ends(Index row, Index n) {
    std::vector<Index> blocks;
    for (const Index b : {Index(0), row - 1, row, row + 1, n - 1})
      if (blocks.empty() || blocks.back() < b) blocks.push_back(b);
    return blocks;
  }

  static std::vector<Index> tokens_of(const std::vector<Index>& blocks, Index size, Index length) {
    std::vector<Index> tokens;
    tokens.reserve(blocks.size() * std::size_t(size));
    for (const Index b : blocks)
      for (Index t = b * size; t < std::min((b + 1) * size, length); ++t) tokens.push_back(t);
    return tokens;
  }

  Parts mask_;
};

}  // namespace headwise::mask
