#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/parameter.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/core/score_queries.hpp>
#include <headwise/score/table.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace headwise::score {

/// A number for each query and distance: what a query has in common with "three tokens to the right".
///
///     s  <-  s + table(query row, reach + j - i),    |j - i| <= reach;    keys farther away are removed
///
/// table [rows of query, heads * (2 reach + 1)]: a row a query of the whole batch, a head is a column block;
/// label_scores makes it of queries and learned labels, so that their gradients are those of two products.
/// It goes by rows: i and j are counted within a sequence. Nothing of the size q_len * k_len is stored, and
/// with a window as mask no pair is judged in vain. Cost: one addition a visible pair; backward runs on one
/// thread. Throws ShapeError when the table does not fit the call. Paper: Shaw et al., "Self-Attention with
/// Relative Position Representations", 2018, equation 4; Ainslie et al., "ETC", 2020, section 3.2.
template <class Table>
class QueryDistance {
 public:
  using policy = ScoreTag;
  static constexpr Coordinates coordinates = Coordinates::rows;
  static constexpr bool reads_query = false;
  static constexpr bool lends_memory = true;

  explicit QueryDistance(Table table) : table_(std::move(table)) {}

  template <class Scalar, class Entry>
  struct Bound : WrittenByPairs<Scalar> {
    static constexpr Coordinates coordinates = Coordinates::rows;
    static constexpr std::array learned{Learned::per_pair};

    const Entry* same;  ///< of the sequence's first query and itself
    Index row_stride, column_stride;
    Index first;  ///< where that number stands in a gradient, which is row-major
    Position reach;

    Scalar operator()(Scalar s, Position query, Position key) const noexcept {
      const Position distance = std::clamp(key - query, -reach, reach);
      const Scalar number = Scalar(same[query * row_stride + distance * column_stride]);
      return math::select(distance == key - query, s + number, Scalar(-math::infinity<Scalar>));
    }

    PullBack<Scalar, 1> pull_back(Scalar, Position query, Position key, Scalar d) const noexcept {
      const Position distance = key - query;
      const bool near = (int(-reach <= distance) & int(distance <= reach)) != 0;
      const Scalar kept = math::select(near, d, Scalar(0));
      return {kept, {kept}};
    }

    /// query * columns + (key - query): pairs that are seen stay within their query's row.
    PairSlot<Scalar> pair_slot(std::size_t, std::span<Matrix<Scalar>> gradients) const noexcept {
      return {gradients[0].data() + first, gradients[0].cols() - 1, 1};
    }
  };

  template <class Scalar>
  auto bind(const Context& context) const requires OperandOf<Table, Scalar> {
    const auto& table = value_of(table_);
    using Entry = scalar_of<decltype(table)>;
    const TableStrides strides = strides_of(table);
    const Index width = table.cols() / context.heads, reach = (width - 1) / 2;
    const Index row = context.query_rows.begin, column = context.head * width + reach;
    return Bound<Scalar, Entry>{{},
                                table.data() + row * strides.row + column * strides.column,
                                strides.row,
                                strides.column,
                                row * table.cols() + column,
                                Position(reach)};
  }

  void check(const Context& context) const {
    if (context.sequence + 1 == context.sequences)
      expect_equal("QueryDistance: table rows", table_.rows(), context.query_rows.end, "one a query");
    expect_multiple("QueryDistance: table columns", table_.cols(), context.heads, "heads");
    const Index width = table_.cols() / context.heads;
    if (width % 2 == 1) return;
    fail_shape("QueryDistance: table columns of one head", std::to_string(width),
               "an odd number, 2 reach + 1");
  }

  void for_each_operand(auto&& visit) const { visit(table_); }
  auto map_operands(auto&& f) const {
    using Mapped = std::remove_cvref_t<decltype(f(table_))>;
    return QueryDistance<Mapped>(f(table_));
  }

 private:
  Table table_;
};

}  // namespace headwise::score
