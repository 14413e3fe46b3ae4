#pragma once

// Element by element, in the widest instruction set that the CPU has, whatever the file is compiled for.

#include <headwise/core/instruction_set.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/matrix.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

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

/// f(a[i], b[i], ...) for i < count, where f changes what it takes by reference: what the pointers to const
/// point to is only read. As transform_lanes; no two operands may overlap.
template <class File = FileFlags, class F, class First, class... Rest>
void update_lanes(Index count, F f, First* first, Rest*... rest) {
  using namespace detail::lanes;
  using Scalar = std::remove_const_t<First>;
  static_assert((std::same_as<Scalar, std::remove_const_t<Rest>> && ...), "update_lanes: one scalar type");
  if constexpr (math::LaneScalar<Scalar>) {
    const InstructionSet set = choose_instruction_set();
    if (set == InstructionSet::avx512) return avx512_tiles::update<Scalar>(count, f, first, rest...);
    if (set == InstructionSet::avx2) return avx2_tiles::update<Scalar>(count, f, first, rest...);
  }
  baseline_tiles::update<Scalar>(count, f, first, rest...);
}

/// start + f(a[i], b[i], ...) + ..., with any associative `add`, over i < count, in lanes that are added up
/// in an order which depends on the count alone. As transform_lanes; each lane begins with `start`, so that
/// must be neutral to `add`.
template <class File = FileFlags, class Scalar, class F, class Add, class... Operands>
Scalar reduce_lanes(Index count, Scalar start, F f, Add add, const Operands*... operands) {
  using namespace detail::lanes;
  if constexpr (math::LaneScalar<Scalar>) {
    const InstructionSet set = choose_instruction_set();
    if (set == InstructionSet::avx512) return avx512_tiles::reduce(count, start, f, add, operands...);
    if (set == InstructionSet::avx2) return avx2_tiles::reduce(count, start, f, add, operands...);
  }
  return baseline_tiles::reduce(count, start, f, add, operands...);
}

/// The sum of f(a[i], b[i], ...) over i < count.
template <class File = FileFlags, class F, class First, class... Rest>
First sum_lanes(Index count, F f, const First* first, const Rest*... rest) {
  return reduce_lanes<File>(
      count, First(0), f, [](First a, First b) { return a + b; }, first, rest...);
}

}  // namespace headwise
