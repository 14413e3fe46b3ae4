#pragma once

#include <headwise/core/half.hpp>
#include <headwise/core/matrix.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace headwise::io {

/// The size that the header of a safetensors file may have at most, as in the reference implementation.
inline constexpr std::uint64_t max_header_bytes = 100'000'000;

/// How a number is stored in a tensor file. In the order by which the format sorts its tensors: wider types
/// last.
enum class Dtype { boolean, u8, i8, f8_e5m2, f8_e4m3, i16, u16, f16, bf16, i32, u32, f32, f64, i64, u64 };

/// What the numbers of a dtype are read as.
enum class NumberKind { floating, integer, unread };

struct DtypeFacts {
  Dtype dtype;
  std::string_view name;  ///< in the file
  std::size_t size;       ///< bytes a number
  NumberKind kind;
};

/// In the order of the enumeration. The 8-bit floats are listed, so that a file holding them opens; nothing
/// reads them.
inline constexpr std::array<DtypeFacts, 15> dtypes{{
    {Dtype::boolean, "BOOL", 1, NumberKind::integer},
    {Dtype::u8, "U8", 1, NumberKind::integer},
    {Dtype::i8, "I8", 1, NumberKind::integer},
    {Dtype::f8_e5m2, "F8_E5M2", 1, NumberKind::unread},
    {Dtype::f8_e4m3, "F8_E4M3", 1, NumberKind::unread},
    {Dtype::i16, "I16", 2, NumberKind::integer},
    {Dtype::u16, "U16", 2, NumberKind::integer},
    {Dtype::f16, "F16", 2, NumberKind::floating},
    {Dtype::bf16, "BF16", 2, NumberKind::floating},
    {Dtype::i32, "I32", 4, NumberKind::integer},
    {Dtype::u32, "U32", 4, NumberKind::integer},
    {Dtype::f32, "F32", 4, NumberKind::floating},
    {Dtype::f64, "F64", 8, NumberKind::floating},
    {Dtype::i64, "I64", 8, NumberKind::integer},
    {Dtype::u64, "U64", 8, NumberKind::integer},
}};

constexpr const DtypeFacts& facts(Dtype dtype) noexcept { return dtypes[static_cast<std::size_t>(dtype)]; }

/// The dtype that stores a C++ number as it is.
template <class Number>
constexpr Dtype dtype_of() noexcept {
  if constexpr (std::same_as<Number, float>) {
    return Dtype::f32;
  } else if constexpr (std::same_as<Number, double>) {
    return Dtype::f64;
  } else if constexpr (std::same_as<Number, std::int64_t>) {
    return Dtype::i64;
  } else if constexpr (std::same_as<Number, std::int32_t>) {
    return Dtype::i32;
  } else {
    static_assert(std::same_as<Number, std::uint8_t>, "dtype_of: float, double, int64, int32 or uint8");
    return Dtype::u8;
  }
}

namespace detail {

static_assert(std::endian::native == std::endian::little,
              "tensor files are little-endian, and so must the machine be");

/// to[i] = convert(the i-th Stored number); `from` may stand at any byte, hence memcpy.
template <class Stored, class Number, class Convert>
void convert_numbers(const std::byte* from, Index count, Number* to, Convert convert) {
  for (Index i = 0; i < count; ++i) {
    Stored stored;
    std::memcpy(&stored, from + std::size_t(i) * sizeof(Stored), sizeof(Stored));
    to[i] = convert(stored);
  }
}

}  // namespace detail

/// Reads `count` floating-point numbers that begin at any byte. The dtype must be of kind floating.
template <class Scalar>
void read_floats(Dtype dtype, const std::byte* from, Index count, Scalar* to) {
  using detail::convert_numbers;
  if (dtype == Dtype::f32) {
    convert_numbers<float>(from, count, to, [](float x) { return static_cast<Scalar>(x); });
  } else if (dtype == Dtype::f64) {
    convert_numbers<double>(from, count, to, [](double x) { return static_cast<Scalar>(x); });
  } else if (dtype == Dtype::f16) {
    convert_numbers<std::uint16_t>(from, count, to,
                                   [](std::uint16_t x) { return Scalar(float_from_half(x)); });
  } else {
    convert_numbers<std::uint16_t>(from, count, to,
                                   [](std::uint16_t x) { return Scalar(float_from_bfloat(x)); });
  }
}

/// Reads `count` integers that begin at any byte. The dtype must be of kind integer; a U64 above 2^63 - 1
/// comes out negative, a BOOL is 0 or 1.
inline void read_integers(Dtype dtype, const std::byte* from, Index count, std::int64_t* to) {
  using detail::convert_numbers;
  const auto widen = [](auto x) { return static_cast<std::int64_t>(x); };
  switch (dtype) {
    case Dtype::boolean:
      return convert_numbers<std::uint8_t>(from, count, to,
                                           [](std::uint8_t x) { return std::int64_t(x != 0); });
    case Dtype::i8:
      return convert_numbers<std::int8_t>(from, count, to, widen);
    case Dtype::i16:
      return convert_numbers<std::int16_t>(from, count, to, widen);
    case Dtype::u16:
      return convert_numbers<std::uint16_t>(from, count, to, widen);
    case Dtype::i32:
      return convert_numbers<std::int32_t>(from, count, to, widen);
    case Dtype::u32:
      return convert_numbers<std::uint32_t>(from, count, to, widen);
    case Dtype::i64:
      return convert_numbers<std::int64_t>(from, count, to, widen);
    case Dtype::u64:
      return convert_numbers<std::uint64_t>(from, count, to, widen);
    default:
      return convert_numbers<std::uint8_t>(from, count, to, widen);
  }
}

/// "F32 [2, 3]".
inline std::string describe(Dtype dtype, const std::vector<Index>& shape) {
  std::string text(facts(dtype).name);
  text += " [";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text.append(i == 0 ? "" : ", ").append(std::to_string(shape[i]));
  return text + "]";
}

}  // namespace headwise::io
