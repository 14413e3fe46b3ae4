#pragma once

// The products with stored matrices, compiled once for each instruction set that may be met at run time:
// core/each_target.inc says how.

#include <headwise/core/instruction_set.hpp>
#include <headwise/stored/format.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace headwise::stored {

/// Rows of a matrix that are stored side by side.
inline constexpr Index panel_rows = 16;

/// What an instruction set offers for one format.
struct PanelKernels {
  using Multiply = void (*)(const std::byte* panel, Index columns, const float* x, Index x_stride,
                            const float* sums, Index sums_stride, float* out) noexcept;
  using Unpack = void (*)(const std::byte* panel, Index columns, float* to, Index stride) noexcept;

  Multiply one = nullptr;   ///< row of x
  Multiply four = nullptr;  ///< rows of x
  Unpack unpack = nullptr;
};

}  // namespace headwise::stored

#define HEADWISE_TARGET_SPACE headwise::stored
#define HEADWISE_TARGET_BODY <headwise/stored/all.inc>
#include <headwise/core/each_target.inc>

namespace headwise::stored {

/// The kernels of a format for an instruction set.
template <class File = FileFlags>
PanelKernels panel_kernels(Format format, InstructionSet set) noexcept {
  if (set == InstructionSet::avx512) return avx512_tiles::kernels_for(format);
  if (set == InstructionSet::avx2) return avx2_tiles::kernels_for(format);
  return baseline_tiles::kernels_for(format);
}

}  // namespace headwise::stored
