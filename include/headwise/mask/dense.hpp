#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/policy.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace headwise::mask {

/// How many blocks are stacked in a dense mask; 1 means that one block serves all.
struct DenseBlocks {
  Index heads = 1;      ///< 1, or the query heads of the call
  Index sequences = 1;  ///< 1, or the sequences of the batch
};

/// Where the pair (query, key) lies in a stack of blocks [sequences][heads][block_rows] x k_len, in 64 bits.
/// An axis of size 1 is shared.
struct DenseLayout {
  Index sequences = 1, heads = 1, block_rows = 1, k_len = 0;

  constexpr Index offset(Index sequence, Index head, Index query, Index key) const noexcept {
    const Index block = (sequences == 1 ? 0 : sequence) * heads + (heads == 1 ? 0 : head);
    return (block * block_rows + (block_rows == 1 ? 0 : query)) * k_len + key;
  }
};

/// A matrix of exactly bool; a matrix of floats is an additive bias, hence a score.
template <class M>
concept BoolMatrix = std::derived_from<std::remove_cvref_t<M>, Eigen::MatrixBase<std::remove_cvref_t<M>>> &&
                     std::same_as < typename std::remove_cvref_t<M>::Scalar,
bool > ;

/// A matrix of booleans that the caller made: row a query, column a key, true means may attend.
///
///     allows(query, key)  <=>  matrix(block row of the query row, key row)
///
/// Blocks for heads and sequences are stacked row under row, [sequences][heads][q_len] x k_len, or
/// [..][..][1] for one row that serves all queries: Dense(matrix, {.heads = 8, .sequences = 2}). It goes by
/// rows within the sequence, so no offset moves it. The matrix is kept; std::move a large one in. Cost:
/// O(q_len k_len) memory, the only mask that has it; tiles that are all false are skipped after being read.
/// Throws ShapeError when the blocks do not fit the call: a ragged batch of different lengths takes
/// mask::where.
class Dense {
 public:
  static constexpr bool reads_head = true;

  template <BoolMatrix M>
  explicit Dense(M&& matrix, DenseBlocks blocks = {}) : matrix_(std::forward<M>(matrix)) {
    expect_positive("Dense: heads", blocks.heads);
    expect_positive("Dense: sequences", blocks.sequences);
    expect_multiple("Dense: matrix rows", matrix_.rows(), blocks.sequences * blocks.heads,
                    "sequences * heads", "stack one block of rows for each head of each sequence");
    layout_ = {blocks.sequences, blocks.heads, matrix_.rows() / (blocks.sequences * blocks.heads),
               matrix_.cols()};
  }

  /// One block: its rows are `row_stride` apart, or 0 for a row that serves all queries.
  struct Bound {
    static constexpr Coordinates coordinates = Coordinates::rows;

    const bool* block = nullptr;
    Index row_stride = 0;

    bool allows(Index query, Index key) const noexcept { return block[query * row_stride + key]; }

    /// Reads the tile until both answers were seen.
    Coverage coverage(Tile tile) const noexcept {
      const Index rows = row_stride == 0 ? std::min<Index>(1, tile.queries.size()) : tile.queries.size();
      bool any = false, all = true;
      for (Index i = 0; i < rows && (all || !any); ++i)
        read(block + (tile.queries.begin + i) * row_stride + tile.keys.begin, tile.keys.size(), any, all);
      if (!any) return Coverage::none;
      return all ? Coverage::full : Coverage::partial;
    }

   private:
    /// Eight at a time: a bool is a byte that holds 0 or 1.
    static void read(const bool* flags, Index count, bool& any, bool& all) noexcept {
      static_assert(sizeof(bool) == 1);
      constexpr std::uint64_t eight_true = 0x0101010101010101u;
      std::uint64_t or_of_all = 0, and_of_all = eight_true;
      Index i = 0;
      for (; i + 8 <= count; i += 8) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, flags + i, 8);
        or_of_all |= eight;
        and_of_all &= eight;
      }
      any = any || or_of_all != 0;
      all = all && and_of_all == eight_true;
      for (; i < count; ++i) {
        any = any || flags[i];
        all = all && flags[i];
      }
    }
  };

  Bound bind(const Context& context) const noexcept {
    return {matrix_.data() + layout_.offset(context.sequence, context.head, 0, 0),
            layout_.block_rows == 1 ? 0 : layout_.k_len};
  }

  void check(const Context& context) const {
    check_blocks("Dense: heads", layout_.heads, context.heads);
    check_blocks("Dense: sequences", layout_.sequences, context.sequences);
    const Index q_len = context.query_rows.size();
    if (layout_.block_rows != 1 && layout_.block_rows != q_len) {
      fail_shape("Dense: rows of a block", std::to_string(layout_.block_rows),
                 std::to_string(q_len) + " (queries) or 1");
    }
    expect_equal("Dense: matrix columns", layout_.k_len, context.key_rows.size(),
                 "give one column for each key");
  }

  const DenseLayout& layout() const noexcept { return layout_; }

 private:
  static void check_blocks(std::string_view what, Index got, Index called_with) {
    if (got == 1 || got == called_with) return;
    fail_shape(what, std::to_string(got), "1 or " + std::to_string(called_with) + " (those of the call)");
  }

  Matrix<bool> matrix_;
  DenseLayout layout_;
};

}  // namespace headwise::mask
