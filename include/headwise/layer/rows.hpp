#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/core/product.hpp>
#include <headwise/core/ragged_rows.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace headwise {

namespace detail {

inline void expect_ids_below(std::string_view verb, std::span<const TokenId> ids, Index count) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (0 <= ids[i] && Index(ids[i]) < count) continue;
    fail_shape(std::string(verb) + ": ids[" + std::to_string(i) + "]", std::to_string(ids[i]),
               "a row of the table, 0 to " + std::to_string(count - 1));
  }
}

inline void expect_inside(const std::string& what, Index begin, Index count, Index size) {
  if (begin >= 0 && count >= 0 && begin + count <= size) return;
  fail_shape(what, std::to_string(begin) + " to " + std::to_string(begin + count),
             "within 0 to " + std::to_string(size));
}

}  // namespace detail

/// The rows `ids` of a table.   table [vocab, m], ids [n] -> [n, m].
/// Throws ShapeError, naming the id, when one is not a row of the table.
template <Computable Table>
Matrix<scalar_of<Table>> embed(const Table& table, std::span<const TokenId> ids) {
  const auto& values = value_of(table);
  detail::expect_ids_below("embed", ids, values.rows());
  Matrix<scalar_of<Table>> out(Index(ids.size()), values.cols());
  for (std::size_t i = 0; i < ids.size(); ++i) out.row(Index(i)) = values.row(Index(ids[i]));
  return out;
}

/// x plus the rows `ids` of a table.   x [n, m], table [count, m], ids [n] -> [n, m].
/// Throws ShapeError when an id is not a row of the table, or the shapes differ.
template <Computable X, Computable Table>
Matrix<scalar_of<X>> add_embedding(const X& x, const Table& table, std::span<const TokenId> ids) {
  const auto& values = value_of(table);
  expect_equal("add_embedding: number of ids", Index(ids.size()), x.rows());
  expect_equal("add_embedding: columns of the table", values.cols(), x.cols());
  detail::expect_ids_below("add_embedding", ids, values.rows());
  Matrix<scalar_of<X>> out = value_of(x);
  for (std::size_t i = 0; i < ids.size(); ++i) out.row(Index(i)) += values.row(Index(ids[i]));
  return out;
}

/// The rows of x, then those of y.   x [n, m], y [k, m] -> [n + k, m]. Throws ShapeError when the columns
/// differ.
template <Computable X, Computable Y>
Matrix<scalar_of<X>> concatenate_rows(const X& x, const Y& y) {
  expect_equal("concatenate_rows: columns of the second matrix", y.cols(), x.cols());
  Matrix<scalar_of<X>> out(x.rows() + y.rows(), x.cols());
  out.topRows(x.rows()) = value_of(x);
  out.bottomRows(y.rows()) = value_of(y);
  return out;
}

/// The columns of x, then those of y.   x [n, m], y [n, k] -> [n, m + k]. Throws ShapeError when the rows
/// differ.
template <Computable X, Computable Y>
Matrix<scalar_of<X>> concatenate_columns(const X& x, const Y& y) {
  expect_equal("concatenate_columns: rows of the second matrix", y.rows(), x.rows());
  Matrix<scalar_of<X>> out(x.rows(), x.cols() + y.cols());
  out.leftCols(x.cols()) = value_of(x);
  out.rightCols(y.cols()) = value_of(y);
  return out;
}

/// Rows begin to begin + count - 1.   x [n, m] -> [count, m]. Throws ShapeError outside x.
template <Computable X>
Matrix<scalar_of<X>> slice_rows(const X& x, Index begin, Index count) {
  detail::expect_inside("slice_rows: rows", begin, count, x.rows());
  return value_of(x).middleRows(begin, count);
}

/// Columns begin to begin + count - 1.   x [n, m] -> [n, count]. Throws ShapeError outside x.
template <Computable X>
Matrix<scalar_of<X>> slice_columns(const X& x, Index begin, Index count) {
  detail::expect_inside("slice_columns: columns", begin, count, x.cols());
  return value_of(x).middleCols(begin, count);
}

/// The listed rows, in the order listed.   x [n, m], rows [k] -> [k, m]. Throws ShapeError outside x.
template <Computable X>
Matrix<scalar_of<X>> gather_rows(const X& x, std::span<const Index> rows) {
  Matrix<scalar_of<X>> out(Index(rows.size()), x.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    detail::expect_inside("gather_rows: rows", rows[i], 1, x.rows());
    out.row(Index(i)) = value_of(x).row(rows[i]);
  }
  return out;
}

/// The mean row of each sequence; zeros for an empty one.   x [n, m] -> [sequences, m].
/// Throws ShapeError when the lengths do not add up to the rows of x.
template <Computable X>
Matrix<scalar_of<X>> mean_rows(const X& x, const RaggedRows& batch = {}) {
  using Scalar = scalar_of<X>;
  const RaggedRows rows = batch.over(x.rows(), "mean_rows: x");
  Matrix<Scalar> out = Matrix<Scalar>::Zero(rows.sequences(), x.cols());
  for (Index s = 0; s < rows.sequences(); ++s) {
    for (Index row = rows[s].begin; row < rows[s].end; ++row) out.row(s) += value_of(x).row(row);
    if (!rows[s].empty()) out.row(s) /= Scalar(double(rows[s].size()));
  }
  return out;
}

}  // namespace headwise
