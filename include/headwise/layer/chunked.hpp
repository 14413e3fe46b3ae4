#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/layer/rows.hpp>

#include <algorithm>
#include <concepts>

namespace headwise {

namespace detail {

/// f of some rows, told where they begin if it asks.
template <class F, class X>
auto of_chunk(const F& f, const X& x, Index first_row) {
  if constexpr (std::invocable<const F&, const X&, Index>) {
    return f(x, first_row);
  } else {
    return f(x);
  }
}

}  // namespace detail

/// f of all rows, some at a time: for an f that treats each row alone, such as a feed-forward layer, the same
/// result, and only `chunk_rows` rows of what lies between exist at once.
///
///     y = [f(x_1); f(x_2); ...]        x_i: `chunk_rows` rows, the last of them fewer
///
/// x [n, m] -> [n, k]. Results are those of f(x), bit for bit where f computes every row alike. An f of two
/// arguments gets the number of its first row as well: what is random must go by rows of the whole. On a tape
/// this is one node, and backward computes f again, chunk by chunk.
/// Throws ShapeError when chunk_rows is not positive. Memory: chunk_rows / n of what f needs.
/// Paper: Kitaev et al., "Reformer: The Efficient Transformer", 2020, section 3.
template <class F, RealMatrix X>
Matrix<scalar_of<X>> chunked(const F& f, const X& x, Index chunk_rows) {
  using Scalar = scalar_of<X>;
  expect_positive("chunked: chunk_rows", chunk_rows);
  if (x.rows() <= chunk_rows) return detail::of_chunk(f, Matrix<Scalar>(x), 0);
  Matrix<Scalar> y;
  for (Index first = 0; first < x.rows(); first += chunk_rows) {
    const Index count = std::min(chunk_rows, x.rows() - first);
    const Matrix<Scalar> part = detail::of_chunk(f, Matrix<Scalar>(x.middleRows(first, count)), first);
    expect_equal("chunked: rows of f(x)", part.rows(), count, "f gives one row for every row");
    if (first == 0) y.resize(x.rows(), part.cols());
    y.middleRows(first, count) = part;
  }
  return y;
}

}  // namespace headwise
