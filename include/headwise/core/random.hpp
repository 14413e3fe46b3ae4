#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/matrix.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <numbers>

namespace headwise {

/// Philox4x32-10: four random words for a 128-bit counter and a 64-bit key, without state.
///
/// Counter-based, so that a random number belongs to a place (seed, layer, head, row, column), never to the
/// thread or tile that happens to ask first. Plain 32-bit arithmetic: a loop over counters is vectorised.
/// Paper: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011, section 3.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                              std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t(0xD2511F53u) * counter[0];
    const std::uint64_t b = std::uint64_t(0xCD9E8D57u) * counter[2];
    counter = {std::uint32_t(b >> 32) ^ counter[1] ^ key[0], std::uint32_t(b),
               std::uint32_t(a >> 32) ^ counter[3] ^ key[1], std::uint32_t(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

constexpr std::array<std::uint32_t, 2> philox_key(std::uint64_t seed) noexcept {
  return {std::uint32_t(seed), std::uint32_t(seed >> 32)};
}

/// A stream of random words: the Philox counters 0, 1, 2, ... under one seed. Never global, cheap to copy.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) noexcept : key_(philox_key(seed)) {}

  std::uint32_t word() noexcept {
    if (used_ == 4) {
      words_ = philox({std::uint32_t(counter_), std::uint32_t(counter_ >> 32), 0, 0}, key_);
      ++counter_;
      used_ = 0;
    }
    return words_[used_++];
  }

  /// Uniform in [0, 1), a multiple of 2^-53.
  double unit() noexcept {
    const std::uint64_t high = word() >> 5, low = word() >> 6;
    return double((high << 26) | low) * 0x1p-53;
  }

  /// Standard normal, by Box and Muller.
  double gaussian() noexcept {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - unit()));
    return radius * std::cos(2.0 * std::numbers::pi * unit());
  }

  /// Uniform in {0, ..., n - 1}. Throws ShapeError when n is not positive.
  Index below(Index n) {
    expect_positive("Rng: n", n);
    return std::min(n - 1, Index(unit() * double(n)));  // beyond 2^53 the product may round up to n
  }

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> words_{};
  std::uint64_t counter_ = 0;
  std::size_t used_ = 4;
};

/// Independent N(0, stddev^2) entries, row by row. Throws ShapeError for a negative size.
template <class Scalar>
Matrix<Scalar> normal(Index rows, Index cols, Scalar stddev, Rng& rng) {
  expect_not_negative("normal: rows", rows);
  expect_not_negative("normal: cols", cols);
  Matrix<Scalar> result(rows, cols);
  for (Index i = 0; i < result.size(); ++i) result.data()[i] = stddev * Scalar(rng.gaussian());
  return result;
}

/// Independent entries, uniform in [low, high), row by row. Throws ShapeError for a negative size.
template <class Scalar>
Matrix<Scalar> uniform(Index rows, Index cols, Scalar low, Scalar high, Rng& rng) {
  expect_not_negative("uniform: rows", rows);
  expect_not_negative("uniform: cols", cols);
  Matrix<Scalar> result(rows, cols);
  for (Index i = 0; i < result.size(); ++i) {
    Scalar x = low + (high - low) * Scalar(rng.unit());
    if constexpr (std::floating_point<Scalar>) {
      if (low < high && x >= high) x = std::nextafter(high, low);  // rounding must not reach the open end
    }
    result.data()[i] = x;
  }
  return result;
}

}  // namespace headwise
