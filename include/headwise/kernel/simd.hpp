#pragma once

#include <headwise/core/matrix.hpp>

#include <cstddef>
#include <cstring>

namespace headwise::kernel {

/// The number of bytes in a vector register of the instruction set that this file is compiled for.
#if defined(__AVX512F__)
inline constexpr int register_bytes = 64;
inline constexpr int registers = 32;
#elif defined(__AVX__)
inline constexpr int register_bytes = 32;
inline constexpr int registers = 16;
#else
inline constexpr int register_bytes = 16;
inline constexpr int registers = 16;
#endif

/// The name of that instruction set, for explanations and benchmarks.
inline constexpr const char* instruction_set() noexcept {
#if defined(__AVX512F__)
  return "AVX-512";
#elif defined(__AVX2__) && defined(__FMA__)
  return "AVX2 + FMA";
#elif defined(__AVX__)
  return "AVX";
#elif defined(__SSE2__)
  return "SSE2";
#else
  return "portable";
#endif
}

/// A vector register of scalars with + - *; a scalar that has no vector form is a vector of one.
template <class Scalar>
struct Simd {
  using Vector = Scalar;
  static constexpr int width = 1;
};

template <>
struct Simd<float> {
  typedef float Vector __attribute__((vector_size(register_bytes)));
  static constexpr int width = register_bytes / 4;
};

template <>
struct Simd<double> {
  typedef double Vector __attribute__((vector_size(register_bytes)));
  static constexpr int width = register_bytes / 8;
};

template <class Scalar>
inline typename Simd<Scalar>::Vector load(const Scalar* from) noexcept {
  if constexpr (Simd<Scalar>::width == 1) {
    return *from;
  } else {
    typename Simd<Scalar>::Vector v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
}

template <class Scalar>
inline void store(Scalar* to, typename Simd<Scalar>::Vector v) noexcept {
  if constexpr (Simd<Scalar>::width == 1) {
    *to = v;
  } else {
    std::memcpy(to, &v, sizeof v);
  }
}

/// One number in every lane. `x - 0` rather than `0 + x`, which a compiler may not drop (signed zeros).
template <class Scalar>
inline typename Simd<Scalar>::Vector broadcast(Scalar x) noexcept {
  return x - typename Simd<Scalar>::Vector{};
}

/// The micro-tile of a scalar: `keys` x `lanes` scores that live in registers, one query a lane.
///
/// Three registers of queries and as many keys as leave room for the operands: 24 of 32 accumulators on
/// AVX-512, 12 of 16 below.
template <class Scalar>
struct MicroTile {
  static constexpr int width = Simd<Scalar>::width;
  static constexpr int vectors = width == 1 ? 4 : 3;
  static constexpr int lanes = vectors * width;
  static constexpr int keys = registers == 32 && width > 1 ? 8 : 4;

  template <class T>
  using PerLane = T[std::size_t(lanes)];
  template <class T>
  using PerPair = T[std::size_t(keys)][std::size_t(lanes)];
};

}  // namespace headwise::kernel
