#pragma once

// Element by element, in the widest instruction set that the CPU has, whatever the file is compiled for.

#include <headwise/core/instruction_set.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/matrix.hpp>

#include <algorithm>

namespace headwise::detail::lanes {

inline constexpr Index block_size = 32;

}  // namespace headwise::detail::lanes

#define HEADWISE_TARGET_SPACE headwise::detail::lanes
#define HEADWISE_TARGET_BODY <headwise/core/tile/lanes_all.inc>
#include <headwise/core/each_target.inc>

namespace headwise {

/// data[i] = f(data[i]) for i < count. f: branch-free scalar code, vectorised here for float and double.
template <class Scalar, class F, class File = FileFlags>
void transform_lanes(Scalar* data, Index count, F f) {
  using namespace detail::lanes;
  if constexpr (math::LaneScalar<Scalar>) {
    const InstructionSet set = choose_instruction_set();
    if (set == InstructionSet::avx512) return avx512_tiles::transform(data, count, f);
    if (set == InstructionSet::avx2) return avx2_tiles::transform(data, count, f);
  }
  baseline_tiles::transform(data, count, f);
}

/// a[i] = f(a[i], b[i]) for i < count; as transform_lanes.
template <class Scalar, class F, class File = FileFlags>
void combine_lanes(Scalar* a, const Scalar* b, Index count, F f) {
  using namespace detail::lanes;
  if constexpr (math::LaneScalar<Scalar>) {
    const InstructionSet set = choose_instruction_set();
    if (set == InstructionSet::avx512) return avx512_tiles::combine(a, b, count, f);
    if (set == InstructionSet::avx2) return avx2_tiles::combine(a, b, count, f);
  }
  baseline_tiles::combine(a, b, count, f);
}

}  // namespace headwise
