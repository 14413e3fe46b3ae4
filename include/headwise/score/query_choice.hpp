#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/mask_queries.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/parameter.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/core/score_queries.hpp>
#include <headwise/score/table.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace headwise::score {

/// Two numbers for each query: one for the keys that a relation holds for, one for the others.
///
///     s  <-  s + table(query row, 2 head + [relation allows (query, key)])
///
/// table [rows of query, heads * 2]: a row a query of the whole batch; label_scores makes it of queries and
/// two learned labels. The relation is any mask, and here hides nothing: whether a token belongs to the
/// sentence that a global token stands for is mask::ScatteredDocuments. Cost: one test and one addition a
/// visible pair; backward runs on one thread. Throws ShapeError when the table does not fit the call, and as
/// the relation does. Paper: Ainslie et al., "ETC: Encoding Long and Structured Inputs in Transformers",
/// 2020, section 3.2.
template <class Table, MaskPolicy Relation>
class QueryChoice {
 public:
  using policy = ScoreTag;
  static constexpr bool reads_query = needs_query_position<Relation>();
  static constexpr bool lends_memory = true;

  QueryChoice(Table table, Relation relation) : table_(std::move(table)), relation_(std::move(relation)) {}

  template <class Scalar, class Entry, class Test>
  struct Bound : WrittenByPairs<Scalar> {
    static constexpr std::array learned{Learned::per_pair, Learned::per_pair};

    const Entry* others;  ///< of the sequence's first query
    Index row_stride, column_stride;
    Index first;  ///< where that number stands in a gradient, which is row-major
    Test relation;

    Scalar operator()(Scalar s, Place query, Place key) const {
      const Entry* numbers = others + query.row * row_stride;
      return s + math::select(headwise::allows(relation, query, key), Scalar(numbers[column_stride]),
                              Scalar(numbers[0]));
    }

    PullBack<Scalar, 2> pull_back(Scalar, Place query, Place key, Scalar d) const {
      const bool holds = headwise::allows(relation, query, key);
      return {d, {math::select(holds, Scalar(0), d), math::select(holds, d, Scalar(0))}};
    }

    /// All keys of a query share its two numbers.
    PairSlot<Scalar> pair_slot(std::size_t n, std::span<Matrix<Scalar>> gradients) const noexcept {
      return {gradients[0].data() + first + Index(n), gradients[0].cols(), 0};
    }
  };

  template <class Scalar>
  auto bind(const Context& context) const requires OperandOf<Table, Scalar> {
    const auto& table = value_of(table_);
    using Entry = scalar_of<decltype(table)>;
    const TableStrides strides = strides_of(table);
    const Index row = context.query_rows.begin, column = 2 * context.head;
    return Bound<Scalar, Entry, BoundMask<Relation>>{
        {},
        table.data() + row * strides.row + column * strides.column,
        strides.row,
        strides.column,
        row * table.cols() + column,
        bind_mask(relation_, context)};
  }

  void check(const Context& context) const {
    check_mask(relation_, context);
    if (context.sequence + 1 == context.sequences)
      expect_equal("QueryChoice: table rows", table_.rows(), context.query_rows.end, "one a query");
    expect_equal("QueryChoice: table columns", table_.cols(), 2 * context.heads, "two a head");
  }

  void for_each_operand(auto&& visit) const { visit(table_); }
  auto map_operands(auto&& f) const {
    using Mapped = std::remove_cvref_t<decltype(f(table_))>;
    return QueryChoice<Mapped, Relation>(f(table_), relation_);
  }

 private:
  Table table_;
  Relation relation_;
};

}  // namespace headwise::score
