#pragma once

#include <bit>
#include <cstdint>

/// 16-bit floats: storage formats, computed in float.
namespace headwise {

/// IEEE half precision, exactly: every half is a float.
constexpr float float_from_half(std::uint16_t half) noexcept {
  const std::uint32_t sign = std::uint32_t(half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 31u, fraction = half & 1023u;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | (fraction << 13));  // infinity, NaN
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float magnitude = float(fraction) * 0x1p-24f;  // zero or denormal
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

/// bfloat16, exactly: the upper half of a float.
constexpr float float_from_bfloat(std::uint16_t bfloat) noexcept {
  return std::bit_cast<float>(std::uint32_t(bfloat) << 16);
}

/// The nearest half, ties to even; beyond 65504 infinity, NaN stays NaN.
constexpr std::uint16_t half_from_float(float x) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x), sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return std::uint16_t(sign | 0x7E00u);
  if (magnitude >= 0x477FF000u) return std::uint16_t(sign | 0x7C00u);  // 65520 and above
  if (magnitude < 0x38800000u) {
    // Below 2^-14 the steps are 2^-24 wide: adding 2^-1, whose own steps are as wide, rounds to one of them.
    const float stepped = std::bit_cast<float>(magnitude) + 0.5f;
    return std::uint16_t(sign | (std::bit_cast<std::uint32_t>(stepped) - 0x3F000000u));
  }
  const std::uint32_t rounded = magnitude + 0xFFFu + ((magnitude >> 13) & 1u);
  return std::uint16_t(sign | ((rounded - 0x38000000u) >> 13));
}

/// The nearest bfloat16, ties to even; NaN stays NaN.
constexpr std::uint16_t bfloat_from_float(float x) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return std::uint16_t((bits >> 16) | 0x40u);
  return std::uint16_t((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace headwise
