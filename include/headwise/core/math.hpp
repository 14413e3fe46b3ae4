#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <utility>

/// Branch-free elementary functions for float and double, and the same names for every other scalar.
///
/// A lane loop that calls std::exp or std::tanh makes one library call a lane. These are straight arithmetic:
/// the compiler turns a loop over lanes into vector instructions, in whatever instruction set the loop is
/// compiled for, and a lane gets the bits that a single call gets. Relative errors, tested over the whole
/// range: float 2e-7, double 6e-16. NaN in, NaN out. The polynomials are minimax fits of our own.
namespace headwise::math {

namespace detail {

/// c[0] x^n + c[1] x^(n - 1) + ... + c[n]: highest power first.
template <class Scalar, class... Rest>
[[gnu::always_inline]] constexpr Scalar polynomial(Scalar x, Scalar first, Rest... rest) noexcept {
  Scalar p = first;
  ((p = rest + x * p), ...);
  return p;
}

template <class Scalar, std::size_t N, std::size_t... I>
[[gnu::always_inline]] constexpr Scalar polynomial_of(Scalar x, const std::array<Scalar, N>& c,
                                                      std::index_sequence<I...>) noexcept {
  return polynomial(x, c[I]...);
}
template <class Scalar, std::size_t N>
[[gnu::always_inline]] constexpr Scalar polynomial_of(Scalar x, const std::array<Scalar, N>& c) noexcept {
  return polynomial_of(x, c, std::make_index_sequence<N>{});
}

/// What differs between float and double: the layout of their bits, and the fits that suit their precision.
template <class Scalar>
struct Format;

template <>
struct Format<float> {
  using Bits = std::uint32_t;
  static constexpr int fraction_bits = 23;
  static constexpr Bits bias = 127;
  static constexpr float to_integer = 0x1.8p23f;          // adding it rounds to an integer in the low bits
  static constexpr float to_exponent = to_integer + 127;  // the same, with the exponent's bias
  static constexpr float two_to_fraction = 0x1p23f;
  static constexpr float ln2_high = 0x1.63p-1f, ln2_low = -0x1.bd0106p-13f;  // n * ln2_high is exact
  static constexpr float exp_low = -126 * 0x1.62e43p-1f, exp_high = 89;
  static constexpr float tanh_high = 20;                     // tanh of half of it rounds to 1
  static constexpr float weight_low = -127 * 0x1.62e43p-1f;  // there 2^n has the bits of zero

  /// (exp(r) - 1) / r for |r| <= ln(2) / 2.
  static constexpr std::array exp_slope = {0x1.6da7bep-10f, 0x1.12a23ep-7f, 0x1.55547p-5f,
                                           0x1.55538ap-3f,  0x1p-1f,        0x1.000002p+0f};
  /// (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2.
  static constexpr std::array exp_tail = {0x1.6a38dap-10f, 0x1.1232aep-7f, 0x1.555898p-5f, 0x1.555494p-3f,
                                          0x1.fffffcp-2f};
  /// (2^r - 1) / r for |r| <= 1 / 2, for the kernel's registers.
  static constexpr std::array exp2_slope = {0x1.5bba1p-10f, 0x1.3cea8cp-7f, 0x1.c6b754p-5f, 0x1.ebf9bcp-3f,
                                            0x1.62e42ap-1f};
  /// (log((1 + s) / (1 - s)) / s - 2) / z, with z = s^2, for |s| <= 3 - sqrt(8).
  [[gnu::always_inline]] static constexpr float log_tail(float z) noexcept {
    return polynomial(z, 0x1.31eea6p-2f, 0x1.995e86p-2f, 0x1.55557ap-1f);
  }
  /// erf(x) / x - 1, with z = x^2, for |x| <= 1.
  [[gnu::always_inline]] static constexpr float erf_near(float z) noexcept {
    return polynomial(z, 0x1.4771fep-14f, -0x1.a3515ep-11f, 0x1.53f224p-8f, -0x1.b7f71ap-6f, 0x1.ce2ce6p-4f,
                      -0x1.81273ep-2f, 0x1.06eba8p-3f);
  }
  /// exp(x^2) (1 - erf(x)), with u = (x - 2) / (x + 2), for 1 <= x <= 4.
  [[gnu::always_inline]] static constexpr float erf_far(float u) noexcept {
    return polynomial(u, -0x1.46bd5ep-9f, -0x1.4b0b58p-4f, 0x1.ee82ccp-3f, -0x1.b570b8p-2f, 0x1.05869p-2f);
  }
};

template <>
struct Format<double> {
  using Bits = std::uint64_t;
  static constexpr int fraction_bits = 52;
  static constexpr Bits bias = 1023;
  static constexpr double to_integer = 0x1.8p52;
  static constexpr double to_exponent = to_integer + 1023;
  static constexpr double two_to_fraction = 0x1p52;
  static constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
  static constexpr double exp_low = -1022 * 0x1.62e42fefa39efp-1, exp_high = 710;
  static constexpr double tanh_high = 40;
  static constexpr double weight_low = -1023 * 0x1.62e42fefa39efp-1;

  static constexpr std::array exp_slope = {0x1.ad5937d2af4cdp-26,
                                           0x1.28afcf642f1e8p-22,
                                           0x1.71df495468616p-19,
                                           0x1.a01997210ad5cp-16,
                                           0x1.a01a01115d333p-13,
                                           0x1.6c16c1856ff41p-10,
                                           0x1.111111112fa35p-7,
                                           0x1.5555555550136p-5,
                                           0x1.55555555554b3p-3,
                                           0x1.000000000000bp-1,
                                           1.0};
  static constexpr std::array exp_tail = {0x1.b2b02957dc90ap-26, 0x1.28b55d880747cp-22, 0x1.71dd1e3001471p-19,
                                          0x1.a01993b0884a1p-16, 0x1.a01a0160ea629p-13, 0x1.6c16c1857162fp-10,
                                          0x1.1111111147724p-7,  0x1.555555555085ep-5,  0x1.555555555539fp-3,
                                          0x1.0000000000009p-1};
  static constexpr std::array exp2_slope = {
      0x1.e79bb3e48b1e8p-32, 0x1.e61b52fdf9f49p-28, 0x1.b5267ce66247dp-24, 0x1.62bfc79b72019p-20,
      0x1.ffcbfba97b9acp-17, 0x1.4309130ed97cep-13, 0x1.5d87fe78cd6e9p-10, 0x1.3b2ab6fba0117p-7,
      0x1.c6b08d7049fe8p-5,  0x1.ebfbdff82c5a4p-3,  0x1.62e42fefa39efp-1};
  [[gnu::always_inline]] static constexpr double log_tail(double z) noexcept {
    return polynomial(z, 0x1.2ed12ad7822f9p-3, 0x1.39a76e7c34071p-3, 0x1.7465ffe54f2e7p-3,
                      0x1.c71c536552c6fp-3, 0x1.2492493fffc3dp-2, 0x1.999999998282dp-2, 0x1.5555555555588p-1);
  }
  [[gnu::always_inline]] static constexpr double erf_near(double z) noexcept {
    return polynomial(z, -0x1.a23da9ff76f12p-31, 0x1.d3dd92184d1a0p-27, -0x1.5b8c6a2aca8a0p-23,
                      0x1.b96b5726d7412p-20, -0x1.f4c82efd933f8p-17, 0x1.f9a296b4469c3p-14,
                      -0x1.c02daeb702af8p-11, 0x1.565bcceeda341p-8, -0x1.b82ce311a97d5p-6,
                      0x1.ce2f21a03f8b9p-4, -0x1.812746b03799dp-2, 0x1.06eba8214db68p-3);
  }
  /// As for float, for 1 <= x <= 6.
  [[gnu::always_inline]] static constexpr double erf_far(double u) noexcept {
    return polynomial(u, -0x1.888a8f38a05c1p-17, 0x1.14b88ad5c7278p-15, 0x1.6d3990073a4cep-13,
                      0x1.6905b5e969ce6p-15, -0x1.0171118af78c1p-10, -0x1.bc24a7888b9b3p-11,
                      0x1.ca95f9d0ddb1dp-8, 0x1.e94716a4d94c4p-9, -0x1.437f0b6a2f87fp-4, 0x1.eeea7dc899df9p-3,
                      -0x1.b57034efd3ea7p-2, 0x1.058671b52c78fp-2);
  }
};

template <class Scalar>
using Bits = typename Format<Scalar>::Bits;

template <class Scalar>
[[gnu::always_inline]] constexpr Bits<Scalar> bits(Scalar x) noexcept {
  return std::bit_cast<Bits<Scalar>>(x);
}

template <class Scalar>
inline constexpr Bits<Scalar> sign_bit = bits(Scalar(-0.0));

template <class Scalar>
[[gnu::always_inline]] constexpr Scalar magnitude(Scalar x) noexcept {
  return std::bit_cast<Scalar>(Bits<Scalar>(bits(x) & ~sign_bit<Scalar>));
}

/// `magnitude`, which is not negative, with the sign of x.
template <class Scalar>
[[gnu::always_inline]] constexpr Scalar with_sign(Scalar magnitude, Scalar x) noexcept {
  return std::bit_cast<Scalar>(Bits<Scalar>(bits(magnitude) | (bits(x) & sign_bit<Scalar>)));
}

/// All ones where the top bit is set, else zero.
template <class Integer>
[[gnu::always_inline]] constexpr Integer spread_top(Integer x) noexcept {
  return Integer(0) - (x >> (std::numeric_limits<Integer>::digits - 1));
}

/// All ones where a < b, else zero; for numbers that are not negative, where NaN counts as largest. Their
/// bits are ordered as integers, and a subtraction and a shift are vectorised where GCC, at baseline flags,
/// gives up on a comparison of doubles.
template <class Scalar>
[[gnu::always_inline]] constexpr Bits<Scalar> less(Scalar a, Scalar b) noexcept {
  return spread_top(Bits<Scalar>(bits(a) - bits(b)));
}

/// a where the mask is ones, b where it is zero.
template <class Scalar>
[[gnu::always_inline]] constexpr Scalar blend(Bits<Scalar> mask, Scalar a, Scalar b) noexcept {
  return std::bit_cast<Scalar>((bits(a) & mask) | (bits(b) & ~mask));
}

/// condition ? bound : x. The choice is between two constants and the rest is bits: of two clamps written as
/// conditional expressions the compiler makes branches, because the second has a known answer after the
/// first.
template <class Scalar>
[[gnu::always_inline]] constexpr Scalar clamp_if(bool condition, Scalar bound, Scalar x) noexcept {
  const Scalar ones = std::bit_cast<Scalar>(~Bits<Scalar>(0));
  return blend(bits(condition ? ones : Scalar(0)), bound, x);
}

}  // namespace detail

/// The scalars that have branch-free functions here.
template <class Scalar>
concept LaneScalar = std::same_as<Scalar, float> || std::same_as<Scalar, double>;

/// condition ? a : b with both sides evaluated, which is what lets a loop around it be vectorised.
template <class Scalar>
[[gnu::always_inline]] constexpr Scalar select(bool condition, Scalar a, Scalar b) noexcept {
  if constexpr (LaneScalar<Scalar>) {
    return detail::blend(detail::Bits<Scalar>(0) - detail::Bits<Scalar>(condition), a, b);
  } else {
    return condition ? a : b;
  }
}

/// exp(x). Results below 2^-125.5 (double: 2^-1021.5) are exactly zero, never denormal; exp(-inf) = 0.
template <class Scalar>
[[gnu::always_inline]] inline Scalar exp(Scalar x) noexcept {
  if constexpr (LaneScalar<Scalar>) {
    using Format = detail::Format<Scalar>;
    // The scale below, 2^(n - 1), has the bits of zero for the lowest n, and is finite for the highest.
    x = detail::clamp_if(x < Format::exp_low, Format::exp_low, x);
    x = detail::clamp_if(x > Format::exp_high, Format::exp_high, x);
    const Scalar shifted = x * Scalar(1.44269504088896340736) + Format::to_integer;
    const Scalar n = shifted - Format::to_integer;
    const Scalar r = (x - n * Format::ln2_high) - n * Format::ln2_low;
    const Scalar p = Scalar(1) + r * detail::polynomial_of(r, Format::exp_slope);
    const auto exponent = detail::bits(shifted) - detail::bits(Format::to_integer) + (Format::bias - 1);
    return (p * std::bit_cast<Scalar>(exponent << Format::fraction_bits)) * Scalar(2);
  } else {
    using std::exp;
    return exp(x);
  }
}

namespace detail {

/// log(x) for a positive finite x; any number for another.
template <class Scalar>
[[gnu::always_inline]] inline Scalar finite_log(Scalar x) noexcept {
  using Format = detail::Format<Scalar>;
  constexpr auto root_half = bits(Scalar(0.70710678118654752440)), one = bits(Scalar(1));
  constexpr auto fraction = (Bits<Scalar>(1) << Format::fraction_bits) - 1;
  const auto denormal = less(x, std::numeric_limits<Scalar>::min());
  const Scalar normal = x * blend(denormal, Format::two_to_fraction, Scalar(1));

  // normal = 2^n m with m in [sqrt(1/2), sqrt(2)). The integer n is written into the fraction of
  // 2^fraction_bits and becomes a number by subtraction: not every instruction set converts 64-bit integers.
  const auto moved = bits(normal) + (one - root_half);
  const auto biased = (moved >> Format::fraction_bits) | bits(Format::two_to_fraction);
  const Scalar n = (std::bit_cast<Scalar>(biased) - (Format::two_to_fraction + Scalar(Format::bias))) -
                   blend(denormal, Scalar(Format::fraction_bits), Scalar(0));
  const Scalar f = std::bit_cast<Scalar>((moved & fraction) + root_half) - Scalar(1);

  // log(1 + f) = f - f^2/2 + s (f^2/2 + z tail(z)) with s = f / (2 + f), z = s^2: the large term f stays
  // exact.
  const Scalar s = f / (Scalar(2) + f), z = s * s, half = Scalar(0.5) * f * f;
  const Scalar small = s * (half + z * Format::log_tail(z)) + n * Format::ln2_low;
  return n * Format::ln2_high + (f - (half - small));
}

}  // namespace detail

/// log(x): -inf at zero, NaN below it, inf at inf; denormal numbers count.
template <class Scalar>
[[gnu::always_inline]] inline Scalar log(Scalar x) noexcept {
  if constexpr (LaneScalar<Scalar>) {
    using Limits = std::numeric_limits<Scalar>;
    const Scalar size = detail::magnitude(x);
    const Scalar upper = detail::blend(detail::less(size, Limits::infinity()), detail::finite_log(size), x);
    const Scalar real = detail::blend(detail::spread_top(detail::bits(x)), Limits::quiet_NaN(), upper);
    return detail::blend(detail::less(Scalar(0), size), real, -Limits::infinity());
  } else {
    using std::log;
    return log(x);
  }
}

/// tanh(x) = e / (e + 2) with e = exp(2 |x|) - 1, and the sign of x. With 2 |x| = n ln(2) + r, e is summed as
/// (2^n - 1) + 2^n (exp(r) - 1), which does not cancel where x is small.
template <class Scalar>
[[gnu::always_inline]] inline Scalar tanh(Scalar x) noexcept {
  if constexpr (LaneScalar<Scalar>) {
    using Format = detail::Format<Scalar>;
    const Scalar twice = Scalar(2) * detail::magnitude(x);
    const Scalar size = detail::clamp_if(twice > Format::tanh_high, Format::tanh_high, twice);
    const Scalar shifted = size * Scalar(1.44269504088896340736) + Format::to_exponent;
    const Scalar n = shifted - Format::to_exponent;
    const Scalar r = (size - n * Format::ln2_high) - n * Format::ln2_low;
    const Scalar power = std::bit_cast<Scalar>(detail::bits(shifted) << Format::fraction_bits);
    const Scalar e = (power - Scalar(1)) + power * (r + r * r * detail::polynomial_of(r, Format::exp_tail));
    return detail::with_sign(e / (e + Scalar(2)), x);
  } else {
    using std::tanh;
    return tanh(x);
  }
}

/// erf(x) = 2 / sqrt(pi) * the integral of exp(-t^2) from 0 to x. Not for complex scalars, as std::erf.
template <class Scalar>
[[gnu::always_inline]] inline Scalar erf(Scalar x) noexcept {
  if constexpr (LaneScalar<Scalar>) {
    using Format = detail::Format<Scalar>;
    const Scalar size = detail::magnitude(x), z = size * size;
    const Scalar u = Scalar(1) - Scalar(4) / (size + Scalar(2));  // (size - 2) / (size + 2), also at infinity
    const Scalar far = Scalar(1) - math::exp(-z) * Format::erf_far(u);
    const Scalar near = size + size * Format::erf_near(z);
    return detail::with_sign(detail::blend(detail::less(size, Scalar(1)), near, far), x);
  } else {
    using std::erf;
    return erf(x);
  }
}

/// The real part, by which scores are ordered.
template <class Scalar>
constexpr auto real(const Scalar& x) noexcept {
  if constexpr (requires { x.real(); }) {
    return x.real();
  } else {
    return x;
  }
}

/// A number type whose real part is what comparisons use: float for float, double for complex<double>.
template <class Scalar>
using real_of = decltype(real(Scalar{}));

template <class Scalar>
inline constexpr real_of<Scalar> infinity = std::numeric_limits<real_of<Scalar>>::infinity();

}  // namespace headwise::math
