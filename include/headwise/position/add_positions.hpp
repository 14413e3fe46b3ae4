#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/product.hpp>

#include <span>
#include <string>

/// The verbs that position encodings of the input are written in. Encodings call them without namespace, so
/// that a variable that records finds its own overloads by argument-dependent lookup.
namespace headwise::position {

namespace detail {

inline void expect_positions_below(std::span<const Position> positions, Index rows, Index table_rows) {
  expect_equal("add_positions: number of positions", Index(positions.size()), rows,
               "give one for each row of x");
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (0 <= positions[i] && Index(positions[i]) < table_rows) continue;
    fail_shape("add_positions: positions[" + std::to_string(i) + "]", std::to_string(positions[i]),
               "0 to " + std::to_string(table_rows - 1),
               "a learned table ends; make it longer, shorten the text, or use an encoding that is computed");
  }
}

}  // namespace detail

/// x + signal, where the signal does not learn.   x, signal [n, d_model] -> [n, d_model].
/// Throws ShapeError when the shapes differ.
template <RealMatrix X>
Matrix<scalar_of<X>> add_positions(const X& x, const Matrix<scalar_of<X>>& signal) {
  expect_equal("add_positions: rows of the signal", signal.rows(), x.rows());
  expect_equal("add_positions: columns of the signal", signal.cols(), x.cols());
  return x + signal;
}

/// x plus the rows of a learned table.   x [n, d_model], table [max_len, d_model], positions [n] -> [n,
/// d_model]. Throws ShapeError when the sizes differ, or when a position is not a row of the table: it is
/// never clamped.
template <RealMatrix X, Computable Table>
Matrix<scalar_of<X>> add_positions(const X& x, const Table& table, std::span<const Position> positions) {
  const auto& values = value_of(table);
  expect_equal("add_positions: columns of x", x.cols(), values.cols(), "the table has this many");
  detail::expect_positions_below(positions, x.rows(), values.rows());
  Matrix<scalar_of<X>> out = x;
  for (std::size_t i = 0; i < positions.size(); ++i) out.row(Index(i)) += values.row(Index(positions[i]));
  return out;
}

/// The gradient of the table: rows of d_output added where their positions say; d_output itself is that of x.
///     d_output [n, d_model], positions [n] -> [table_rows, d_model]
/// Throws ShapeError when there is not one position a row, or one is not a row of the table.
template <RealMatrix D>
Matrix<scalar_of<D>> add_positions_backward(const D& d_output, std::span<const Position> positions,
                                            Index table_rows) {
  detail::expect_positions_below(positions, d_output.rows(), table_rows);
  Matrix<scalar_of<D>> d_table = Matrix<scalar_of<D>>::Zero(table_rows, d_output.cols());
  for (std::size_t i = 0; i < positions.size(); ++i)
    d_table.row(Index(positions[i])) += d_output.row(Index(i));
  return d_table;
}

}  // namespace headwise::position
