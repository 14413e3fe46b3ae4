#pragma once

#include <headwise/autograd/record.hpp>
#include <headwise/layer/rows.hpp>
#include <headwise/position/add_positions.hpp>

#include <span>
#include <utility>
#include <vector>

namespace headwise::autograd {

namespace detail {

/// sums[ids[i]] += d[i], row by row.
template <class Scalar, class Id>
void add_rows(Matrix<Scalar>& sums, const std::vector<Id>& ids, const Matrix<Scalar>& d) {
  for (std::size_t i = 0; i < ids.size(); ++i) sums.row(Index(ids[i])) += d.row(Index(i));
}

template <class T>
std::vector<T> kept(std::span<const T> numbers) {
  return {numbers.begin(), numbers.end()};
}

template <class Scalar>
Var<Scalar> embedded(const Var<Scalar>& table, std::vector<TokenId> ids) {
  Matrix<Scalar> rows = headwise::embed(table.value(), std::span<const TokenId>(ids));
  return table.tape().record(std::move(rows), {table},
                             [table, ids = std::move(ids)](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                               add_rows(sweep.sum(table), ids, d);
                             });
}

/// x plus rows of a table, whose value the caller has computed.
template <class Scalar, class Id>
Var<Scalar> with_rows_added(Matrix<Scalar> value, const Var<Scalar>& x, const Var<Scalar>& table,
                            std::vector<Id> ids) {
  return x.tape().record(std::move(value), {x, table},
                         [x, table, ids = std::move(ids)](Sweep<Scalar>& sweep, Matrix<Scalar> d) {
                           if (sweep.wants(table)) add_rows(sweep.sum(table), ids, d);
                           sweep.add(x, std::move(d));
                         });
}

template <class Scalar>
Var<Scalar> rows_joined(const Var<Scalar>& x, const Var<Scalar>& y) {
  return x.tape().record(headwise::concatenate_rows(x.value(), y.value()), {x, y},
                         [x, y](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                           sweep.add(x, d.topRows(x.rows()));
                           sweep.add(y, d.bottomRows(y.rows()));
                         });
}

template <class Scalar>
Var<Scalar> columns_joined(const Var<Scalar>& x, const Var<Scalar>& y) {
  return x.tape().record(headwise::concatenate_columns(x.value(), y.value()), {x, y},
                         [x, y](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                           sweep.add(x, d.leftCols(x.cols()));
                           sweep.add(y, d.rightCols(y.cols()));
                         });
}

}  // namespace detail

/// The rows `ids` of a table, recorded: where a model that reads tokens meets the tape.
///   table [vocab, m]: a parameter, a variable or a matrix; ids [n] from tape.input -> [n, m]
template <class Table, class Scalar>
Var<Scalar> embed(const Table& table, const Ids<Scalar>& ids) {
  return detail::embedded(detail::as_var<Scalar>(ids.tape(), table), detail::kept(ids.value()));
}
template <class Scalar>
Var<Scalar> embed(const Var<Scalar>& table, std::span<const TokenId> ids) {
  return detail::embedded(table, detail::kept(ids));
}

/// x plus the rows `ids` of a table, recorded.   x [n, m], table [count, m], ids [n] -> [n, m]
template <class X, class Table>
requires Recorded<X, Table>
auto add_embedding(const X& x, const Table& table, std::span<const TokenId> ids) {
  const auto [input, rows] = detail::as_vars(x, table);
  return detail::with_rows_added(headwise::add_embedding(input.value(), rows.value(), ids), input, rows,
                                 detail::kept(ids));
}

/// x plus the rows of a learned table, recorded.   x [n, m], table [max_len, m], positions [n] -> [n, m]
template <class X, class Table>
requires Recorded<X, Table>
auto add_positions(const X& x, const Table& table, std::span<const Position> positions) {
  const auto [input, rows] = detail::as_vars(x, table);
  return detail::with_rows_added(position::add_positions(input.value(), rows.value(), positions), input, rows,
                                 detail::kept(positions));
}

/// x + signal, where the signal does not learn, recorded.   x, signal [n, m] -> [n, m]
template <class Scalar>
Var<Scalar> add_positions(const Var<Scalar>& x, const std::type_identity_t<Matrix<Scalar>>& signal) {
  return x.tape().record(position::add_positions(x.value(), signal), {x},
                         [x](Sweep<Scalar>& sweep, Matrix<Scalar> d) { sweep.add(x, std::move(d)); });
}

/// The rows of x, then those of y, recorded.   x [n, m], y [k, m] -> [n + k, m]
template <class X, class Y>
requires Recorded<X, Y>
auto concatenate_rows(const X& x, const Y& y) {
  const auto [above, below] = detail::as_vars(x, y);
  return detail::rows_joined(above, below);
}

/// The columns of x, then those of y, recorded.   x [n, m], y [n, k] -> [n, m + k]
template <class X, class Y>
requires Recorded<X, Y>
auto concatenate_columns(const X& x, const Y& y) {
  const auto [left, right] = detail::as_vars(x, y);
  return detail::columns_joined(left, right);
}

/// Rows begin to begin + count - 1, recorded.   x [n, m] -> [count, m]
template <class Scalar>
Var<Scalar> slice_rows(const Var<Scalar>& x, Index begin, Index count) {
  return x.tape().record(headwise::slice_rows(x.value(), begin, count), {x},
                         [x, begin, count](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                           sweep.sum(x).middleRows(begin, count) += d;
                         });
}

/// Columns begin to begin + count - 1, recorded.   x [n, m] -> [n, count]
template <class Scalar>
Var<Scalar> slice_columns(const Var<Scalar>& x, Index begin, Index count) {
  return x.tape().record(headwise::slice_columns(x.value(), begin, count), {x},
                         [x, begin, count](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                           sweep.sum(x).middleCols(begin, count) += d;
                         });
}

/// The listed rows, recorded; a row listed twice gets both gradients.   x [n, m], rows [k] -> [k, m]
template <class Scalar>
Var<Scalar> gather_rows(const Var<Scalar>& x, std::span<const Index> rows) {
  return x.tape().record(headwise::gather_rows(x.value(), rows), {x},
                         [x, rows = detail::kept(rows)](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                           detail::add_rows(sweep.sum(x), rows, d);
                         });
}

/// The mean row of each sequence, recorded.   x [n, m] -> [sequences, m]
template <class Scalar>
Var<Scalar> mean_rows(const Var<Scalar>& x, const RaggedRows& batch = {}) {
  return x.tape().record(
      headwise::mean_rows(x.value(), batch), {x},
      [x, rows = batch.over(x.rows(), "mean_rows: x")](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
        Matrix<Scalar>& sums = sweep.sum(x);
        for (Index s = 0; s < rows.sequences(); ++s) {
          const Scalar share = Scalar(1) / Scalar(double(rows[s].size()));
          for (Index row = rows[s].begin; row < rows[s].end; ++row) sums.row(row) += share * d.row(s);
        }
      });
}

}  // namespace headwise::autograd
