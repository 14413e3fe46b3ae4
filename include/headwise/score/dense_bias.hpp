#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/parameter.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/core/score_queries.hpp>
#include <headwise/score/table.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace headwise::score {

/// How many blocks are stacked in a dense bias; 1 means that one block serves all.
struct BiasBlocks {
  Index heads = 1;      ///< 1, or the query heads of the call
  Index sequences = 1;  ///< 1, or the sequences of the batch
};

/// Which row of a stack of blocks [sequences][heads][block_rows] belongs to a query. An axis of size 1 is
/// shared.
struct BiasLayout {
  Index sequences = 1, heads = 1, block_rows = 1;

  constexpr Index row(Index sequence, Index head, Index query) const noexcept {
    const Index block = (sequences == 1 ? 0 : sequence) * heads + (heads == 1 ? 0 : head);
    return block * block_rows + (block_rows == 1 ? 0 : query);
  }
};

/// An additive bias that the caller made: row a query, column a key.
///
///     s  <-  s + table(block row of the query row, key row)
///
/// table [sequences * heads * q_len, k_len], blocks stacked row under row; 1 in the place of any of the four
/// sizes is shared, and its gradient is the sum over what shares it. -inf removes a key, whatever its score;
/// every other number is arithmetic. It goes by rows within the sequence, so no offset moves it.
/// A bias is not a mask: 1 and 0 are added, and a matrix of bools does not compile.
/// Cost: one addition a visible pair; reads q_len * k_len numbers a head, unless rows are shared.
/// Throws ShapeError when the blocks do not fit the call.
template <class Table>
class DenseBias {
 public:
  using policy = ScoreTag;
  static constexpr Coordinates coordinates = Coordinates::rows;
  static constexpr bool reads_query = false;
  static constexpr bool lends_memory = true;

  explicit DenseBias(Table table, BiasBlocks blocks = {}) : table_(std::move(table)) {
    expect_positive("DenseBias: heads", blocks.heads);
    expect_positive("DenseBias: sequences", blocks.sequences);
    expect_multiple("DenseBias: table rows", table_.rows(), blocks.sequences * blocks.heads,
                    "sequences * heads", "stack one block of rows for each head of each sequence");
    layout_ = {blocks.sequences, blocks.heads, table_.rows() / (blocks.sequences * blocks.heads)};
  }

  template <class Scalar, class Entry>
  struct Bound : WrittenByPairs<Scalar> {
    static constexpr Coordinates coordinates = Coordinates::rows;
    static constexpr std::array learned{Learned::per_pair};

    const Entry* block;
    Index row_stride, column_stride;  ///< of the table; 0 along a shared axis
    Index first_row;                  ///< of the block
    bool shares_rows, shares_columns;

    Scalar operator()(Scalar s, Position query, Position key) const noexcept {
      const Scalar bias = entry(query, key);
      return math::select(removes(bias), bias, s + bias);
    }

    PullBack<Scalar, 1> pull_back(Scalar, Position query, Position key, Scalar d) const noexcept {
      const Scalar kept = math::select(removes(entry(query, key)), Scalar(0), d);
      return {kept, {kept}};
    }

    static constexpr std::size_t pair_matrices = std::same_as<Entry, Scalar> ? 1 : 0;

    /// The numbers of one tile, side by side.
    template <int Lanes>
    struct OnTile {
      static constexpr Coordinates coordinates = Coordinates::rows;

      const Scalar* numbers;
      Position first_query, first_key;

      [[gnu::always_inline]] Scalar operator()(Scalar s, Position query, Position key) const noexcept {
        const Scalar bias = numbers[(key - first_key) * Lanes + (query - first_query)];
        return math::select(removes(bias), bias, s + bias);
      }
    };

    template <int Lanes, class Copy>
    OnTile<Lanes> on_tile(Place query, Place key, Copy&& copy) const {
      return {copy(block + query.row * row_stride + key.row * column_stride, row_stride, column_stride),
              query.row, key.row};
    }

    PairSlot<Scalar> pair_slot(std::size_t, std::span<Matrix<Scalar>> gradients) const noexcept {
      Matrix<Scalar>& table = gradients[0];
      return {table.data() + first_row * table.cols(), shares_rows ? 0 : table.cols(),
              shares_columns ? 0 : 1};
    }

   private:
    Scalar entry(Position query, Position key) const noexcept {
      return Scalar(block[query * row_stride + key * column_stride]);
    }
    static bool removes(const Scalar& bias) noexcept { return math::real(bias) == -math::infinity<Scalar>; }
  };

  template <class Scalar>
  auto bind(const Context& context) const requires OperandOf<Table, Scalar> {
    const auto& table = value_of(table_);
    using Entry = scalar_of<decltype(table)>;
    const TableStrides strides = strides_of(table);
    const Index first_row = layout_.row(context.sequence, context.head, 0);
    const bool shares_rows = layout_.block_rows == 1, shares_columns = table.cols() == 1;
    return Bound<Scalar, Entry>{{},
                                table.data() + first_row * strides.row,
                                shares_rows ? 0 : strides.row,
                                shares_columns ? 0 : strides.column,
                                first_row,
                                shares_rows,
                                shares_columns};
  }

  void check(const Context& context) const {
    check_axis("DenseBias: heads", layout_.heads, context.heads, "those of the call");
    check_axis("DenseBias: sequences", layout_.sequences, context.sequences, "those of the call");
    check_axis("DenseBias: rows of a block", layout_.block_rows, context.query_rows.size(), "queries");
    check_axis("DenseBias: table columns", table_.cols(), context.key_rows.size(), "keys");
  }

  void for_each_operand(auto&& visit) const { visit(table_); }
  auto map_operands(auto&& f) const {
    using Mapped = std::remove_cvref_t<decltype(f(table_))>;
    return DenseBias<Mapped>(f(table_), {layout_.heads, layout_.sequences});
  }

  const BiasLayout& layout() const noexcept { return layout_; }

 private:
  static void check_axis(std::string_view what, Index got, Index needed, std::string_view whose) {
    if (got == 1 || got == needed) return;
    fail_shape(what, std::to_string(got), "1 or " + std::to_string(needed) + " (" + std::string(whose) + ")");
  }

  Table table_;
  BiasLayout layout_;
};

namespace detail {

/// A Map or a Ref says by its type that the memory is another's, also where it has no name.
template <class T>
inline constexpr bool is_said_to_be_a_view = false;
template <class M, int Options, class Stride>
inline constexpr bool is_said_to_be_a_view<Eigen::Map<M, Options, Stride>> = true;
template <class M, int Options, class Stride>
inline constexpr bool is_said_to_be_a_view<Eigen::Ref<M, Options, Stride>> = true;

}  // namespace detail

/// A bias of a matrix, a parameter, or a view: a Map, a Ref, or a Block that has a name. Views are not
/// copied, what they show must outlive the score. Matrices and parameters are kept: std::move a large one in.
/// Other expressions are evaluated, among them a Block written within the call,
/// dense_bias(make().topRows(n)): it may show a matrix that is gone when the call ends.
///
///     attend(query, key, value, {.heads = 8}, mask::None{}, score::dense_bias(bias, {.heads = 8}))
template <class Table>
auto dense_bias(Table&& table, BiasBlocks blocks = {}) {
  using T = std::remove_cvref_t<Table>;
  if constexpr (std::derived_from<T, Eigen::MatrixBase<T>>) {
    static_assert(RealMatrix<T>, "an additive bias is a matrix of numbers; a matrix of bools is mask::Dense");
    constexpr bool is_kept =
        std::derived_from<T, Eigen::PlainObjectBase<T>> || std::is_lvalue_reference_v<Table>;
    if constexpr (bool(T::Flags & Eigen::DirectAccessBit) && (is_kept || detail::is_said_to_be_a_view<T>)) {
      return DenseBias<T>(std::forward<Table>(table), blocks);
    } else {
      return DenseBias<Matrix<typename T::Scalar>>(Matrix<typename T::Scalar>(table), blocks);
    }
  } else {
    return DenseBias<T>(std::forward<Table>(table), blocks);
  }
}

}  // namespace headwise::score
