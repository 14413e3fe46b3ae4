#pragma once

#include <headwise/core/executor.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/core/tile.hpp>

#include <algorithm>
#include <concepts>
#include <utility>

/// What treats each row alone, shared between threads: norms, activations, sums, rotations.
namespace headwise {

/// Into how many chunks rows are cut. row_cost is in numbers that a row reads or writes: about a tenth of a
/// nanosecond each, so a chunk takes ten microseconds and more. Less than two chunks is not worth waking a
/// thread, and stays one.
inline Index row_chunks(Index rows, double row_cost) noexcept {
  constexpr double chunk_cost = 1 << 17;
  return rows <= 0 ? 0 : std::clamp(Index(double(rows) * row_cost / chunk_cost), Index(1), rows);
}

/// Runs body(Range), or body(Range, i), for consecutive chunks of [0, rows), on the threads of an executor if
/// one is given. The chunks depend on rows and cost alone, so that whoever computes them, the bits are the
/// same.
template <class Body>
void for_each_row_chunk(const Executor& executor, Index rows, double row_cost, Body&& body) {
  const Index chunks = row_chunks(rows, row_cost);
  executor(chunks, [&](Index i) {
    const Range chunk{rows * i / chunks, rows * (i + 1) / chunks};
    if constexpr (std::invocable<Body&, Range, Index>) {
      body(chunk, i);
    } else {
      body(chunk);
    }
  });
}

/// x with its rows changed chunk by chunk: change(numbers, rows) gets those of the rows, side by side. A
/// matrix or expression is copied, each chunk just before, so that it is changed in the cache; a temporary
/// Matrix gives its memory.   x [n, m] -> [n, m]
template <class Scalar, class X, class Change>
Matrix<Scalar> with_changed_rows(X&& x, const Executor& executor, double row_cost, Change&& change) {
  const Index width = x.cols();
  if constexpr (std::same_as<X, Matrix<Scalar>>) {
    for_each_row_chunk(executor, x.rows(), row_cost,
                       [&](Range rows) { change(x.data() + rows.begin * width, rows); });
    return std::move(x);
  } else {
    const ConstMatrixRef<Scalar> from(x);
    Matrix<Scalar> out(from.rows(), width);
    for_each_row_chunk(executor, from.rows(), row_cost, [&](Range rows) {
      for (Index row = rows.begin; row < rows.end; ++row)
        std::copy_n(from.data() + row * from.outerStride(), width, out.data() + row * width);
      change(out.data() + rows.begin * width, rows);
    });
    return out;
  }
}

}  // namespace headwise
