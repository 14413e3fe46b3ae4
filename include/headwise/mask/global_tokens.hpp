#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/policy.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headwise::mask {

namespace detail {

/// The tokens of one sequence that are global. count[i] of the tokens before the i-th are, counted from any
/// origin; tokens outside [0, size) are not.
struct GlobalTest {
  const std::uint32_t* count = nullptr;
  Index size = 0;

  constexpr bool is_global(Index token) const noexcept {
    const Index at = std::clamp<Index>(token, 0, size - 1);  // never read outside
    return int(count[at + 1] != count[at]) & int(at == token);
  }

  /// Global tokens in a range.
  constexpr Index in(Range tokens) const noexcept {
    const Index begin = std::clamp<Index>(tokens.begin, 0, size),
                end = std::clamp<Index>(tokens.end, 0, size);
    return Index(std::uint32_t(count[end] - count[begin]));
  }
};

/// What both masks of this file ask of their tokens.
struct GlobalPairs {
  GlobalTest queries, keys;

  constexpr bool allows(Index query, Index key) const noexcept {
    return (int(queries.is_global(query)) | int(keys.is_global(key))) != 0;
  }

  constexpr Coverage coverage(Tile tile) const noexcept {
    const Index q = queries.in(tile.queries), k = keys.in(tile.keys);
    if (q == 0 && k == 0) return Coverage::none;
    return q == tile.queries.size() || k == tile.keys.size() ? Coverage::full : Coverage::partial;
  }
};

}  // namespace detail

/// Global tokens: they see every key, and every query sees them.
///
///     allows(query, key)  <=>  query in G  or  key in G
///
/// Longformer is Band{w, w} || GlobalTokens{...}; Big Bird adds random blocks. G holds positions, the same in
/// every sequence; GlobalRows takes other tokens for each. A position beyond a text is no token of it:
/// shorter texts of a batch, and a cache that has not come so far, take the same mask. Cost: O(seq_len |G|),
/// exactly skipped. Throws ShapeError for a negative position, or a range that ends before it begins. Paper:
/// Beltagy et al., "Longformer: The Long-Document Transformer", 2020, section 3.1.
class GlobalTokens {
 public:
  /// Positions, in any order; one that is named twice counts once.
  explicit GlobalTokens(const std::vector<Index>& positions) {
    std::vector<bool> global;
    for (const Index p : positions) {
      expect_not_negative("GlobalTokens: position", p);
      if (p >= Index(global.size())) global.resize(std::size_t(p) + 1, false);
      global[std::size_t(p)] = true;
    }
    for (const bool each : global) count_.push_back(count_.back() + std::uint32_t(each));
    if (count_.size() == 1) count_.push_back(0);  // a test always has a token that it may read
  }

  /// The tokens of both ranges: {0, b}, {length - b, length} are Big Bird's first and last block.
  static GlobalTokens ranges(const std::vector<Range>& ranges) {
    std::vector<Index> positions;
    for (const Range& range : ranges) {
      if (range.end < range.begin)
        fail_shape("GlobalTokens: end of a range", std::to_string(range.end),
                   "at least " + std::to_string(range.begin) + ", where it begins");
      for (Index p = range.begin; p < range.end; ++p) positions.push_back(p);
    }
    return GlobalTokens(positions);
  }

  using Bound = detail::GlobalPairs;

  Bound bind(const Context&) const noexcept {
    const detail::GlobalTest test{count_.data(), Index(count_.size()) - 1};
    return {test, test};
  }

 private:
  std::vector<std::uint32_t> count_{0};
};

/// Global tokens of a batch: one bool for each row of the caller's matrices, true for a global token.
///
///     allows(query, key)  <=>  global[query row]  or  global[key row]
///
/// Sequences may have any numbers of them. Cost: as GlobalTokens. Throws ShapeError when there is not one
/// bool for each row, or when queries and keys are not the same rows.
class GlobalRows {
 public:
  explicit GlobalRows(const std::vector<bool>& global) {
    count_.reserve(global.size() + 1);
    for (const bool each : global) count_.push_back(count_.back() + std::uint32_t(each));
  }

  struct Bound : detail::GlobalPairs {
    static constexpr Coordinates coordinates = Coordinates::rows;
  };

  Bound bind(const Context& context) const noexcept {
    const detail::GlobalTest test{count_.data() + context.query_rows.begin, context.query_rows.size()};
    return {{test, test}};
  }

  void check(const Context& context) const {
    expect_equal("GlobalRows: first key row", context.key_rows.begin, context.query_rows.begin,
                 "global tokens are for self-attention");
    expect_equal("GlobalRows: number of keys", context.key_rows.size(), context.query_rows.size(),
                 "global tokens are for self-attention");
    const Index rows = Index(count_.size()) - 1;
    const bool last = context.sequence == context.sequences - 1;
    if (last ? rows == context.query_rows.end : rows >= context.query_rows.end) return;
    fail_shape("GlobalRows: number of flags", std::to_string(rows), std::to_string(context.query_rows.end),
               "give one bool for each row");
  }

 private:
  std::vector<std::uint32_t> count_{0};
};

/// The first and the last blocks of every sequence are global: a [CLS] token or a question in front
/// (GlobalBlocks{.first = n}), or Big Bird's first and last block (GlobalBlocks{.block_size = 64, .last =
/// 1}).
///
///     n = ceil(seq_len / block_size);   G = tokens of blocks 0 ... first - 1 and n - last ... n - 1
///     allows(query, key)  <=>  query in G  or  key in G
///
/// Unlike GlobalTokens it lists the keys of a query as runs, and knows the end of each sequence. It goes by
/// rows. Cost: O(seq_len |G|), exactly skipped. Throws ShapeError for a block_size below 1, a negative number
/// of blocks, or when queries and keys differ in number.
/// Paper: Zaheer et al., "Big Bird: Transformers for Longer Sequences", 2020, section 2 (the internal
/// construction).
struct GlobalBlocks {
  Index block_size = 1;
  Index first = 1, last = 0;

  struct Bound {
    static constexpr Coordinates coordinates = Coordinates::rows;

    Range between;  ///< the tokens that are not global
    Index length;

    constexpr bool allows(Index query, Index key) const noexcept {
      return (int(between.contains(query)) & int(between.contains(key))) == 0;
    }

    constexpr Runs<2> runs(Index query) const noexcept {
      Runs<2> runs;
      if (between.contains(query)) {
        runs.append({0, between.begin});
        runs.append({between.end, length});
      } else {
        runs.append({0, length});
      }
      return runs;
    }

    constexpr Coverage coverage(Tile tile) const noexcept {
      if (between.contains(tile.queries) && between.contains(tile.keys)) return Coverage::none;
      const bool all_queries = intersect(tile.queries, between).empty();
      return all_queries || intersect(tile.keys, between).empty() ? Coverage::full : Coverage::partial;
    }
  };

  constexpr Bound bind(const Context& context) const noexcept {
    const Index length = context.key_rows.size();
    const Index blocks = (length + block_size - 1) / block_size;
    const Index begin = std::min(std::min(first, blocks) * block_size, length);
    const Index end = std::max(begin, std::max<Index>(0, blocks - last) * block_size);
    return {{begin, std::min(end, length)}, length};
  }

  void check(const Context& context) const {
    expect_positive("GlobalBlocks: block_size", block_size);
    expect_not_negative("GlobalBlocks: first", first);
    expect_not_negative("GlobalBlocks: last", last);
    expect_equal("GlobalBlocks: number of queries", context.query_rows.size(), context.key_rows.size(),
                 "global blocks are for self-attention");
  }
};

}  // namespace headwise::mask
