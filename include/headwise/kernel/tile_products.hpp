#pragma once

#include <headwise/kernel/simd.hpp>

#include <algorithm>

/// The three products of a micro-tile. Forward needs the first two; backward is made of the same three.
///
/// Everything is packed: queries [dim][lanes] (one query a lane), keys in panels [dim][keys]. The
/// accumulators stay in registers, and no loop bound but the head's size is known only at run time.
namespace headwise::kernel {

/// out[key][lane] = sum_x panel[x][key] * query[x][lane].
template <class Scalar>
[[gnu::noinline]] void multiply_scores(const Scalar* query, const Scalar* panel, Index dim, Scalar* out) {
  using Tile = MicroTile<Scalar>;
  using Vector = typename Simd<Scalar>::Vector;
  Vector sum[std::size_t(Tile::keys)][std::size_t(Tile::vectors)] = {};
  for (Index x = 0; x < dim; ++x) {
    Vector q[std::size_t(Tile::vectors)];
#pragma GCC unroll 8
    for (int v = 0; v < Tile::vectors; ++v) q[v] = load(query + v * Tile::width);
#pragma GCC unroll 8
    for (int key = 0; key < Tile::keys; ++key) {
      const Vector k = broadcast(panel[key]);
#pragma GCC unroll 8
      for (int v = 0; v < Tile::vectors; ++v) sum[key][v] += k * q[v];
    }
    query += Tile::lanes;
    panel += Tile::keys;
  }
#pragma GCC unroll 8
  for (int key = 0; key < Tile::keys; ++key) {
#pragma GCC unroll 8
    for (int v = 0; v < Tile::vectors; ++v) store(out + key * Tile::lanes + v * Tile::width, sum[key][v]);
  }
}

/// out[x][lane] += sum_key panel[x][key] * weight[key][lane].
template <class Scalar>
[[gnu::noinline]] void add_weighted(const Scalar* weight, const Scalar* panel, Index dim, Scalar* out) {
  using Tile = MicroTile<Scalar>;
  using Vector = typename Simd<Scalar>::Vector;
  Vector w[std::size_t(Tile::keys)][std::size_t(Tile::vectors)];
#pragma GCC unroll 8
  for (int key = 0; key < Tile::keys; ++key) {
#pragma GCC unroll 8
    for (int v = 0; v < Tile::vectors; ++v) w[key][v] = load(weight + key * Tile::lanes + v * Tile::width);
  }
  for (Index x = 0; x < dim; ++x) {
    Vector sum[std::size_t(Tile::vectors)];
#pragma GCC unroll 8
    for (int v = 0; v < Tile::vectors; ++v) sum[v] = load(out + v * Tile::width);
#pragma GCC unroll 8
    for (int key = 0; key < Tile::keys; ++key) {
      const Vector p = broadcast(panel[key]);
#pragma GCC unroll 8
      for (int v = 0; v < Tile::vectors; ++v) sum[v] += p * w[key][v];
    }
#pragma GCC unroll 8
    for (int v = 0; v < Tile::vectors; ++v) store(out + v * Tile::width, sum[v]);
    out += Tile::lanes;
    panel += Tile::keys;
  }
}

/// One strip of `add_outer`: `Vectors` registers of columns.
template <class Scalar, int Vectors>
inline void add_outer_strip(const Scalar* weight, const Scalar* rows, Index row_size, Scalar* out) {
  using Tile = MicroTile<Scalar>;
  using Vector = typename Simd<Scalar>::Vector;
  Vector sum[std::size_t(Tile::keys)][std::size_t(Vectors)];
#pragma GCC unroll 8
  for (int key = 0; key < Tile::keys; ++key) {
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) sum[key][v] = load(out + key * row_size + v * Tile::width);
  }
  for (int lane = 0; lane < Tile::lanes; ++lane) {
    Vector r[std::size_t(Vectors)];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) r[v] = load(rows + lane * row_size + v * Tile::width);
#pragma GCC unroll 8
    for (int key = 0; key < Tile::keys; ++key) {
      const Vector w = broadcast(weight[key * Tile::lanes + lane]);
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) sum[key][v] += w * r[v];
    }
  }
#pragma GCC unroll 8
  for (int key = 0; key < Tile::keys; ++key) {
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) store(out + key * row_size + v * Tile::width, sum[key][v]);
  }
}

/// out[key][x] += sum_lane weight[key][lane] * rows[lane][x], for row_size columns, a multiple of the width.
template <class Scalar>
[[gnu::noinline]] void add_outer(const Scalar* weight, const Scalar* rows, Index row_size, Scalar* out) {
  constexpr Index width = MicroTile<Scalar>::width;
  Index x = 0;
  for (; x + 3 * width <= row_size; x += 3 * width)
    add_outer_strip<Scalar, 3>(weight, rows + x, row_size, out + x);
  if (row_size - x == 2 * width) add_outer_strip<Scalar, 2>(weight, rows + x, row_size, out + x);
  if (row_size - x == width) add_outer_strip<Scalar, 1>(weight, rows + x, row_size, out + x);
}

/// Columns of a packed row: dim rounded up to whole registers.
template <class Scalar>
constexpr Index padded(Index dim) noexcept {
  constexpr Index width = MicroTile<Scalar>::width;
  return (dim + width - 1) / width * width;
}

}  // namespace headwise::kernel
