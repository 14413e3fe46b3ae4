#pragma once

#include <headwise/core/block_of.hpp>
#include <headwise/core/error.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/kernel/plan.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace headwise::mask {

/// Blockwise attention: the sequence is cut into n blocks, and each block sees one block, by a permutation.
///
///     B = ceil(seq_len / n),  b(i) = floor(i / B):      allows(query, key)  <=>  b(key) =
///     permutation[b(query)]
///
/// A permutation for each head, or one for all; shifted(n, {0, 0, 1}) makes head 2 look one block on. The
/// last block is short when n does not divide seq_len, and empty when fewer than n are filled: who looks
/// there, sees nothing. It goes by rows of the sequence. Joined with Causal, a block that looks ahead sees
/// nothing. Cost: O(seq_len^2 / n), exactly skipped. Throws ShapeError when a list is no permutation, when
/// there is neither one list nor one a head, or when queries and keys differ in number. Paper: Qiu et al.,
/// "Blockwise Self-Attention for Long Document Understanding", 2019, section 3.1.
class Blockwise {
 public:
  static constexpr bool reads_head = true;

  /// One permutation for all heads, of {0, ..., n - 1}.
  explicit Blockwise(const std::vector<Index>& permutation) : Blockwise(PerHead{}, {permutation}) {}

  /// One permutation a head, all of n blocks.
  static Blockwise per_head(const std::vector<std::vector<Index>>& permutations) {
    return Blockwise(PerHead{}, permutations);
  }

  /// Head h looks shifts[h] blocks on, round the end: permutation[b] = (b + shifts[h]) mod blocks.
  static Blockwise shifted(Index blocks, const std::vector<Index>& shifts) {
    expect_positive("Blockwise: blocks", blocks);
    const BlockOf wrap(blocks);
    std::vector<std::vector<Index>> permutations;
    for (const Index shift : shifts) {
      auto& permutation = permutations.emplace_back();
      for (Index b = 0; b < blocks; ++b) permutation.push_back(wrap.rest(b + shift));
    }
    return per_head(permutations);
  }

  struct Bound {
    static constexpr Coordinates coordinates = Coordinates::rows;

    const Index* permutation = nullptr;
    BlockOf block;
    Index length = 0;

    bool allows(Index query, Index key) const noexcept { return permutation[block(query)] == block(key); }

    Runs<1> runs(Index query) const noexcept {
      const Index begin = permutation[block(query)] * block.size();
      return single_run(begin, std::min(begin + block.size(), length));
    }

    Coverage coverage(Tile tile) const noexcept {
      const Range keys{block(tile.keys.begin), block(tile.keys.end - 1) + 1};
      const Index first = block(tile.queries.begin), last = block(tile.queries.end - 1);
      const bool one_block = first == last && keys.size() == 1;
      for (Index b = first; b <= last; ++b)
        if (keys.contains(permutation[b])) return one_block ? Coverage::full : Coverage::partial;
      return Coverage::none;
    }
  };

  Bound bind(const Context& context) const noexcept {
    const Index length = context.key_rows.size();
    return {list(context.head), BlockOf(block_size(length)), length};
  }

  void check(const Context& context) const {
    expect_equal("Blockwise: number of queries", context.query_rows.size(), context.key_rows.size(),
                 "blocks of queries look at blocks of keys of one sequence");
    if (heads_ == 1 || heads_ == context.heads) return;
    fail_shape("Blockwise: number of permutations", std::to_string(heads_),
               "1 or " + std::to_string(context.heads) + " (heads)");
  }

  /// The pairs of a sequence of `length` tokens, for attend_over: one item a block of queries.
  Plan plan(Index length, Index head = 0) const {
    expect_not_negative("Blockwise: length", length);
    const Index size = block_size(length);
    const auto block = [&](Index b) {
      return RowList::contiguous({std::min(b * size, length), std::min((b + 1) * size, length)});
    };
    Plan plan;
    for (Index b = 0; b < blocks_; ++b) plan.items.push_back({block(b), block(list(head)[b])});
    return plan;
  }

  Index blocks() const noexcept { return blocks_; }
  Index block_size(Index length) const noexcept {
    return std::max<Index>(1, (length + blocks_ - 1) / blocks_);
  }

 private:
  struct PerHead {};

  Blockwise(PerHead, const std::vector<std::vector<Index>>& permutations) {
    expect_positive("Blockwise: number of permutations", Index(permutations.size()));
    blocks_ = Index(permutations.front().size());
    heads_ = Index(permutations.size());
    expect_positive("Blockwise: blocks", blocks_);
    for (std::size_t h = 0; h < permutations.size(); ++h) add(permutations[h], Index(h));
  }

  const Index* list(Index head) const noexcept {
    return permutations_.data() + (heads_ == 1 ? 0 : head) * blocks_;
  }

  void add(const std::vector<Index>& permutation, Index head) {
    const std::string name = "Blockwise: permutations[" + std::to_string(head) + "]";
    expect_equal(name + " size", Index(permutation.size()), blocks_, "all heads cut into as many blocks");
    std::vector<bool> used(permutation.size(), false);
    for (std::size_t b = 0; b < permutation.size(); ++b) {
      const Index to = permutation[b];
      const std::string entry = name + "[" + std::to_string(b) + "]";
      if (to < 0 || to >= blocks_)
        fail_shape(entry, std::to_string(to), "0 to " + std::to_string(blocks_ - 1));
      if (used[std::size_t(to)]) fail_shape(entry, std::to_string(to) + " again", "each block once");
      used[std::size_t(to)] = true;
      permutations_.push_back(to);
    }
  }

  std::vector<Index> permutations_;  ///< [heads][blocks]
  Index heads_ = 1, blocks_ = 1;
};

}  // namespace headwise::mask
