#pragma once

// The row loops of attention for few queries, compiled once for each instruction set that may be met at run
// time: core/each_target.inc says how.

#include <headwise/core/instruction_set.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/matrix.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace headwise::kernel::few {

/// Keys that pass together: of all heads, before the next ones.
inline constexpr Index block_keys = 16;

/// What an instruction set offers. Scores and weights of a query are block_keys numbers.
template <class Scalar>
struct RowKernels {
  /// scores_q[k] = query_q . key_k for k < keys.   query [count, dim], contiguous
  void (*dot)(const Scalar* query, Index count, Index dim, const Scalar* key, Index key_stride, Index keys,
              Scalar* scores) noexcept = nullptr;
  /// Scores become weights exp(score - maximum_q), added to sum_q. Where a score exceeds the maximum, that
  /// rises and sum_q and out_q are scaled.   out [count, dim], contiguous
  void (*weigh)(Scalar* scores, Index count, Index dim, Scalar* maximum, Scalar* sum,
                Scalar* out) noexcept = nullptr;
  /// out_q += sum over k < keys of weights_q[k] value_k; a weight of zero passes its value over.
  void (*add)(const Scalar* weights, Index count, const Scalar* value, Index value_stride, Index keys,
              Index dim, Scalar* out) noexcept = nullptr;
};

}  // namespace headwise::kernel::few

#define HEADWISE_TARGET_SPACE headwise::kernel::few
#define HEADWISE_TARGET_BODY <headwise/kernel/few/all.inc>
#include <headwise/core/each_target.inc>

namespace headwise::kernel::few {

/// The kernels for an instruction set.
template <class Scalar, class File = FileFlags>
RowKernels<Scalar> row_kernels(InstructionSet set) noexcept {
  if (set == InstructionSet::avx512) return avx512_tiles::row_kernels<Scalar>();
  if (set == InstructionSet::avx2) return avx2_tiles::row_kernels<Scalar>();
  return baseline_tiles::row_kernels<Scalar>();
}

}  // namespace headwise::kernel::few
