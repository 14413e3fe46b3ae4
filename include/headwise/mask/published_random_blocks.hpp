#pragma once

#include <headwise/mask/random_blocks.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headwise::mask {

/// A call of the published Big Bird code in training, whose tables a checkpoint has learned to live with.
struct PublishedRandomBlocksOptions {
  Index seq_len = 4096;
  Index block_size = 64;
  Index random = 3;
  Index heads = 12;
  Index layer = 0;  ///< the seed
  Index max_positions = 4096;
};

namespace detail {

/// The Mersenne Twister, MT19937, and the shuffle of NumPy's first generator on top of it.
/// Paper: Matsumoto and Nishimura, "Mersenne Twister", 1998.
class NumpyShuffle {
 public:
  explicit NumpyShuffle(std::uint32_t seed) noexcept {
    state_[0] = seed;
    for (std::uint32_t i = 1; i < state_.size(); ++i)
      state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  }

  void operator()(std::vector<Index>& list) noexcept {
    for (std::size_t last = list.size(); last-- > 1;) std::swap(list[last], list[below_or_at(last)]);
  }

 private:
  /// Uniform in {0, ..., largest}, by rejection.
  std::size_t below_or_at(std::size_t largest) noexcept {
    std::uint32_t mask = std::uint32_t(largest);
    for (const int shift : {1, 2, 4, 8, 16}) mask |= mask >> shift;
    std::uint32_t drawn = word() & mask;
    while (drawn > largest) drawn = word() & mask;
    return drawn;
  }

  std::uint32_t word() noexcept {
    if (next_ == state_.size()) refill();
    std::uint32_t y = state_[next_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

  void refill() noexcept {
    constexpr std::size_t n = 624, middle = 397;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % n] & 0x7fffffffu);
      state_[i] = state_[(i + middle) % n] ^ (y >> 1) ^ ((y & 1u) != 0 ? 0x9908b0dfu : 0u);
    }
    next_ = 0;
  }

  std::array<std::uint32_t, 624> state_{};
  std::size_t next_ = 624;
};

/// The candidates of a row of blocks under the paper's own lengths: blocks 1, 2, ... of the longest input,
/// cut as the published code cuts them, so that only the first 1,024 tokens are drawn.
inline std::vector<Index> published_candidates(Index row, Index blocks, Index last) {
  std::vector<Index> candidates;
  const auto add = [&](Index begin, Index end) {
    for (Index i = begin; i < std::min(end, blocks - 2); ++i) candidates.push_back(i + 1);
  };
  if (row <= 2) {
    add(row + 1, last);
  } else if (row >= blocks - 3 || row - 2 > last) {
    add(0, last);
  } else if (row + 1 == last) {
    add(0, row - 2);
  } else {
    add(0, row - 2);
    add(row + 1, last);
  }
  return candidates;
}

/// The first `random` blocks of a shuffled segment that neither the window nor an end shows.
inline std::vector<Index> published_choice(Index row, Index segment, Index random, NumpyShuffle& shuffle) {
  std::vector<Index> order, chosen;
  for (Index b = 0; b < segment; ++b) order.push_back(b);
  shuffle(order);
  for (const Index b : order) {
    const bool shown = std::abs(b - row) <= 1 || b == 0 || b == segment - 1 ||
                       (row == 1 && b == segment - 2) || (row == segment - 2 && b == 1);
    if (!shown && Index(chosen.size()) < random) chosen.push_back(b);
  }
  return chosen;
}

inline void expect_candidates(Index row, const std::vector<Index>& candidates, Index random) {
  if (Index(candidates.size()) >= random) return;
  fail_shape("published_random_blocks: candidates for block " + std::to_string(row),
             std::to_string(candidates.size()), "at least " + std::to_string(random) + " (random)",
             "the published code fails here, too; short texts get full attention");
}

}  // namespace detail

/// The random blocks that the published Big Bird code draws in training, number for number.
///
/// For 1,024, 3,072 and 4,096 tokens they are drawn head by head among the first 1,024 tokens; for other
/// lengths row by row, among the first 2 random + 5 blocks, or among all blocks of a short text. The table is
/// for mask::BigBird, and for score::RepeatedBlocks, because such blocks may repeat what window and ends
/// show. Throws ShapeError where the published code fails: when block_size does not divide the length, or a
/// block has too few candidates. Code: Hugging Face transformers, modeling_big_bird.py, after
/// google-research/bigbird.
inline RandomBlocks published_random_blocks(const PublishedRandomBlocksOptions& o) {
  expect_positive("published_random_blocks: block_size", o.block_size);
  expect_positive("published_random_blocks: random", o.random);
  expect_positive("published_random_blocks: heads", o.heads);
  expect_not_negative("published_random_blocks: layer", o.layer);
  expect_positive("published_random_blocks: seq_len", o.seq_len);
  expect_multiple("published_random_blocks: seq_len", o.seq_len, o.block_size, "block_size", "pad the text");
  const Index n = o.seq_len / o.block_size;
  std::vector<Index> table(std::size_t(o.heads * n * o.random), -1);
  const auto put = [&](Index head, Index row, const std::vector<Index>& blocks) {
    if (row > n - 2) return;  // drawn, and dropped
    detail::expect_candidates(row, blocks, o.random);
    std::copy_n(blocks.begin(), o.random, table.begin() + (head * n + row) * o.random);
  };
  detail::NumpyShuffle shuffle{std::uint32_t(o.layer)};
  if (o.seq_len == 1024 || o.seq_len == 3072 || o.seq_len == 4096) {
    const Index longest = o.max_positions / o.block_size;
    const Index last = 1024 > 2 * o.block_size ? 1024 / o.block_size - 1 : longest - 1;
    for (Index head = 0; head < o.heads; ++head) {
      for (Index row = 1; row <= longest - 2; ++row) {
        std::vector<Index> candidates = detail::published_candidates(row, longest, last);
        shuffle(candidates);
        put(head, row, candidates);
      }
    }
    return RandomBlocks(o.block_size, n, o.heads, std::move(table));
  }
  if (n > o.random + 5 && n <= 2 * o.random + 5) detail::expect_candidates(1, {}, o.random);
  const Index segment = n > 2 * o.random + 5 ? 2 * o.random + 5 : n;
  for (Index row = 1; row <= n - 1; ++row)
    for (Index head = 0; head < o.heads; ++head)
      put(head, row, detail::published_choice(row, segment, o.random, shuffle));
  return RandomBlocks(o.block_size, n, o.heads, std::move(table));
}

}  // namespace headwise::mask
