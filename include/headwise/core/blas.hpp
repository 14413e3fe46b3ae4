#pragma once

// The matrix product of a BLAS. Included by core/product.hpp in a program that links one and says so: CMake's
// target headwise::blas, or -DHEADWISE_WITH_BLAS and the library by hand.

#include <headwise/core/dense_product.hpp>

#include <algorithm>
#include <limits>

// The Fortran names, which every BLAS has, with 32-bit integers; declared as Eigen declares them.
extern "C" {
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
            const int*, const float*, const int*, const float*, float*, const int*);
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
            const int*, const double*, const int*, const double*, double*, const int*);
}

namespace headwise::detail::blas {

/// A factor as BLAS reads it. Its matrices are column-major, so what is stored by rows is to it the
/// transpose.
template <class Scalar>
struct Factor {
  char transposed = 'N';
  const Scalar* data = nullptr;
  int stride = 1;
};

/// out [columns, rows] = b [columns, steps] a [steps, rows], column-major.
template <class Scalar>
void gemm(Factor<Scalar> b, Factor<Scalar> a, int columns, int rows, int steps, Scalar* out, int out_stride) {
  const Scalar one(1), zero(0);
  if constexpr (sizeof(Scalar) == sizeof(float)) {
    sgemm_(&b.transposed, &a.transposed, &columns, &rows, &steps, &one, b.data, &b.stride, a.data, &a.stride,
           &zero, out, &out_stride);
  } else {
    dgemm_(&b.transposed, &a.transposed, &columns, &rows, &steps, &one, b.data, &b.stride, a.data, &a.stride,
           &zero, out, &out_stride);
  }
}

/// Whether BLAS can read [rows, columns] of this stride: 32-bit sizes, and rows that do not overlap.
constexpr bool is_readable(Index rows, Index columns, Index stride) noexcept {
  constexpr Index largest = std::numeric_limits<int>::max();
  return rows <= largest && columns <= largest && stride <= largest && (rows < 2 || stride >= columns);
}

/// The whole product, or false where it is none for BLAS: rows that overlap, sizes beyond 32 bits, and few
/// rows by a transposed factor, for which our own loops read that factor once and where it lies.
///
/// Columns are shared between the executor's threads. The parts depend on the sizes alone, so the bits do not
/// depend on their number; whether they depend on the number of threads that the BLAS itself starts, only the
/// BLAS can say.
template <class Scalar>
bool run(const dense_product::Product<Scalar>& p, const Executor& executor) {
  using dense_product::Transposed;
  const bool left = p.transposed == Transposed::left, right = p.transposed == Transposed::right;
  if (right && p.rows < dense_product::few_rows) return false;
  if (!(left ? is_readable(p.steps, p.rows, p.a.stride) : is_readable(p.rows, p.steps, p.a.stride)))
    return false;
  if (!(right ? is_readable(p.columns, p.steps, p.b.stride) : is_readable(p.steps, p.columns, p.b.stride)))
    return false;
  if (!is_readable(p.rows, p.columns, p.out_stride)) return false;
  if (p.rows == 0 || p.columns == 0) return true;

  // Of a single row the stride may be anything; BLAS wants it no shorter than the row.
  const int a_stride = int(std::max(p.a.stride, left ? p.rows : p.steps));
  const int b_stride = int(std::max(p.b.stride, right ? p.steps : p.columns));
  const int out_stride = int(std::max(p.out_stride, p.columns));
  const double flops = 2.0 * double(p.rows) * double(p.columns) * double(p.steps);
  // Parts of some milliseconds of one core, of columns that fill whole registers and cache lines.
  constexpr double part_flops = 2e8;
  constexpr Index strip = 64;
  const Index strips = (p.columns + strip - 1) / strip;
  const Index parts = std::clamp(Index(flops / part_flops), Index(1), strips);
  executor(parts, [&](Index part) {
    const Index begin = strips * part / parts * strip;
    const Index end = std::min(strips * (part + 1) / parts * strip, p.columns);
    const Factor<Scalar> a{left ? 'T' : 'N', p.a.data, a_stride};
    const Factor<Scalar> b{right ? 'T' : 'N', right ? p.b.row(begin) : p.b.data + begin, b_stride};
    gemm(b, a, int(end - begin), int(p.rows), int(p.steps), p.out + begin, out_stride);
  });
  return true;
}

}  // namespace headwise::detail::blas
