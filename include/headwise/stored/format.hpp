#pragma once

#include <headwise/core/half.hpp>
#include <headwise/core/matrix.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

/// Weights that stay in memory as they lie in a file, and are multiplied from there.
namespace headwise::stored {

/// How the numbers of a matrix are stored, row by row. The quantised ones share scales between 32 neighbours:
///
///     q8_0   x = d q          d: half, q: 8 bits, -128 to 127       34 bytes a block
///     q4_0   x = d (q - 8)    d: half, q: 4 bits                    18 bytes
///     q4_1   x = d q + m      d, m: half, q: 4 bits                 20 bytes
///
/// Number k < 16 of a block of 4-bit numbers is the lower half of byte k, number 16 + k the upper half.
/// Formats: ggml, https://github.com/ggml-org/ggml, ggml-common.h.
enum class Format { f32, f16, bf16, q8_0, q4_0, q4_1 };

struct FormatFacts {
  Format format;
  std::string_view name;
  Index block;              ///< numbers that are stored together
  std::size_t block_bytes;  ///< bytes of a block
};

/// In the order of the enumeration.
inline constexpr std::array<FormatFacts, 6> formats{{
    {Format::f32, "F32", 1, 4},
    {Format::f16, "F16", 1, 2},
    {Format::bf16, "BF16", 1, 2},
    {Format::q8_0, "Q8_0", 32, 34},
    {Format::q4_0, "Q4_0", 32, 18},
    {Format::q4_1, "Q4_1", 32, 20},
}};

constexpr const FormatFacts& facts(Format format) noexcept {
  return formats[static_cast<std::size_t>(format)];
}

/// Bytes of `count` numbers, which must be whole blocks.
constexpr std::size_t bytes_of(Format format, Index count) noexcept {
  return std::size_t(count / facts(format).block) * facts(format).block_bytes;
}

namespace detail {

static_assert(std::endian::native == std::endian::little,
              "stored weights are little-endian, and so must the machine be");

inline std::uint16_t load16(const std::byte* from) noexcept {
  std::uint16_t bits;
  std::memcpy(&bits, from, sizeof bits);
  return bits;
}
inline float load_half(const std::byte* from) noexcept { return float_from_half(load16(from)); }

inline void store_half(std::byte* to, float x) noexcept {
  const std::uint16_t bits = half_from_float(x);
  std::memcpy(to, &bits, sizeof bits);
}

/// One block of 32.
inline void decode_block(Format format, const std::byte* from, float* to) noexcept {
  const float scale = load_half(from);
  if (format == Format::q8_0) {
    for (int k = 0; k < 32; ++k) to[k] = scale * float(static_cast<std::int8_t>(from[2 + k]));
    return;
  }
  const bool shifted = format == Format::q4_1;
  const float offset = shifted ? load_half(from + 2) : 0;
  const std::byte* const quanta = from + (shifted ? 4 : 2);
  for (int k = 0; k < 16; ++k) {
    const int low = std::to_integer<int>(quanta[k] & std::byte(15));
    const int high = std::to_integer<int>(quanta[k] >> 4);
    to[k] = shifted ? scale * float(low) + offset : scale * float(low - 8);
    to[16 + k] = shifted ? scale * float(high) + offset : scale * float(high - 8);
  }
}

inline void encode_q8_0(const float* from, std::byte* to) noexcept {
  float largest = 0;
  for (int k = 0; k < 32; ++k) largest = std::max(largest, std::abs(from[k]));
  const float scale = largest / 127, inverse = scale > 0 ? 1 / scale : 0;
  store_half(to, scale);
  for (int k = 0; k < 32; ++k)
    to[2 + k] = static_cast<std::byte>(static_cast<std::int8_t>(std::lround(from[k] * inverse)));
}

/// The 4-bit numbers of a block: (x - least) inverse, rounded, at most 15.
inline void encode_nibbles(const float* from, float least, float inverse, std::byte* to) noexcept {
  const auto quantum = [&](float x) {
    return static_cast<unsigned>(std::clamp((x - least) * inverse + 0.5f, 0.0f, 15.0f));
  };
  for (int k = 0; k < 16; ++k) to[k] = static_cast<std::byte>(quantum(from[k]) | quantum(from[16 + k]) << 4);
}

inline void encode_q4_0(const float* from, std::byte* to) noexcept {
  float extreme = 0;  // the one of largest magnitude, with its sign: it becomes -8 scales exactly
  for (int k = 0; k < 32; ++k)
    if (std::abs(from[k]) > std::abs(extreme)) extreme = from[k];
  const float scale = extreme / -8, inverse = scale != 0 ? 1 / scale : 0;
  store_half(to, scale);
  encode_nibbles(from, -8 * scale, inverse, to + 2);
}

inline void encode_q4_1(const float* from, std::byte* to) noexcept {
  const auto [least, most] = std::minmax_element(from, from + 32);
  const float scale = (*most - *least) / 15, inverse = scale > 0 ? 1 / scale : 0;
  store_half(to, scale);
  store_half(to + 2, *least);
  encode_nibbles(from, *least, inverse, to + 4);
}

}  // namespace detail

/// Reads `count` numbers, whole blocks, that begin at any byte.
inline void decode(Format format, const std::byte* from, Index count, float* to) noexcept {
  if (count == 0) return;  // of nothing, not even the addresses are there
  switch (format) {
    case Format::f32:
      std::memcpy(to, from, std::size_t(count) * sizeof(float));
      return;
    case Format::f16:
      for (Index i = 0; i < count; ++i) to[i] = detail::load_half(from + 2 * i);
      return;
    case Format::bf16:
      for (Index i = 0; i < count; ++i) to[i] = float_from_bfloat(detail::load16(from + 2 * i));
      return;
    default:
      break;
  }
  for (Index i = 0; i < count; i += 32, from += facts(format).block_bytes)
    detail::decode_block(format, from, to + i);
}

/// Writes `count` finite numbers, whole blocks: rounded to nearest where a format is narrower than float, the
/// quantised ones as ggml's reference does. The halves of a block's scale overflow beyond 65504.
inline void encode(Format format, const float* from, Index count, std::byte* to) noexcept {
  if (count == 0) return;
  const auto store16 = [](std::byte* at, std::uint16_t bits) { std::memcpy(at, &bits, sizeof bits); };
  switch (format) {
    case Format::f32:
      std::memcpy(to, from, std::size_t(count) * sizeof(float));
      return;
    case Format::f16:
      for (Index i = 0; i < count; ++i) store16(to + 2 * i, half_from_float(from[i]));
      return;
    case Format::bf16:
      for (Index i = 0; i < count; ++i) store16(to + 2 * i, bfloat_from_float(from[i]));
      return;
    default:
      break;
  }
  for (Index i = 0; i < count; i += 32, to += facts(format).block_bytes) {
    if (format == Format::q8_0) {
      detail::encode_q8_0(from + i, to);
    } else if (format == Format::q4_0) {
      detail::encode_q4_0(from + i, to);
    } else {
      detail::encode_q4_1(from + i, to);
    }
  }
}

}  // namespace headwise::stored
