#pragma once

// The dense product of float and double, compiled once for each instruction set and chosen when it runs.
// Eigen's own product has the instruction set of the file that it is compiled in: on plain x86-64 that is
// SSE2, a quarter of what the CPU can do.

#include <headwise/core/buffer.hpp>
#include <headwise/core/executor.hpp>
#include <headwise/core/instruction_set.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/tile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace headwise::detail::dense_product {

/// Row-major numbers.
template <class Scalar>
struct Rows {
  const Scalar* data = nullptr;
  Index stride = 0;

  const Scalar* row(Index i) const noexcept { return data + i * stride; }
};

/// Which factor lies in memory as the transpose of what is multiplied.
enum class Transposed { none, left, right };

/// out [rows, columns] = a [rows, steps] times b [steps, columns]. A transposed factor is stored as a [steps,
/// rows], or b [columns, steps].
template <class Scalar>
struct Product {
  Rows<Scalar> a, b;
  Transposed transposed = Transposed::none;
  Index rows = 0, columns = 0, steps = 0;
  Scalar* out = nullptr;
  Index out_stride = 0;
};

/// Below this many rows the right factor is read where it lies instead of packed.
inline constexpr Index few_rows = 6;
/// The packed left factor, rows x steps, stays in the second-level cache; the packed right one, lanes x
/// steps, passes through the first.
inline constexpr Index rows_at_once = 768, steps_at_once = 256;

}  // namespace headwise::detail::dense_product

#define HEADWISE_TARGET_SPACE headwise::detail::dense_product
#define HEADWISE_TARGET_BODY <headwise/core/tile/dense_product_all.inc>
#include <headwise/core/each_target.inc>

namespace headwise::detail::dense_product {

template <class Scalar, class File>
void run_columns(InstructionSet set, const Product<Scalar>& product, Range columns) {
  if (set == InstructionSet::avx512) return avx512_tiles::run_columns(product, columns);
  if (set == InstructionSet::avx2) return avx2_tiles::run_columns(product, columns);
  baseline_tiles::run_columns(product, columns);
}

template <class Scalar, class File>
Index lanes_of(InstructionSet set) noexcept {
  if (set == InstructionSet::avx512) return avx512_tiles::lanes_of<Scalar>();
  if (set == InstructionSet::avx2) return avx2_tiles::lanes_of<Scalar>();
  return baseline_tiles::lanes_of<Scalar>();
}

/// The whole product, its columns shared between the executor's threads; every number is summed in the same
/// order for any of them.
template <class Scalar, class File = FileFlags>
void run(const Product<Scalar>& product, const Executor& executor,
         InstructionSet set = choose_instruction_set()) {
  const Index lanes = lanes_of<Scalar, File>(set), panels = (product.columns + lanes - 1) / lanes;
  const double flops = 2.0 * double(product.rows) * double(product.columns) * double(product.steps);
  // Parts of whole panels: of about a millisecond of one core, as each packs the left factor for itself, but
  // of twenty microseconds where few rows are multiplied by a factor that is read where it lies.
  const bool in_place = product.rows < few_rows && product.transposed == Transposed::right;
  const double part_flops = in_place ? 3e5 : 5e7;
  const Index parts =
      executor ? std::clamp(Index(flops / part_flops), Index(1), std::max<Index>(1, panels)) : 1;
  executor(parts, [&](Index part) {
    const Range range{panels * part / parts * lanes,
                      std::min(panels * (part + 1) / parts * lanes, product.columns)};
    if (!range.empty()) run_columns<Scalar, File>(set, product, range);
  });
}

}  // namespace headwise::detail::dense_product
