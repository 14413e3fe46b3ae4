#pragma once

#include <headwise/core/matrix.hpp>

#include <bit>
#include <cstdint>

namespace headwise {

/// Which block of `size` tokens a token lies in, without a division, so that lane loops vectorise.
///
///     floor(token / size)        also for tokens before the origin: -1 lies in block -1
///
/// Exact for every Position and every size from 1 to 2^31 - 1; callers check the size.
/// Paper: Granlund and Montgomery, "Division by Invariant Integers using Multiplication", 1994, section 4.
class BlockOf {
 public:
  constexpr BlockOf() noexcept : BlockOf(1) {}

  constexpr explicit BlockOf(Index size) noexcept
      : factor_((std::uint64_t(1) << (31 + bits(size))) / std::uint64_t(size) + 1),
        shift_(31 + bits(size)),
        size_(size) {}

  constexpr Index operator()(Index token) const noexcept {
    const Index sign = token >> 63;  // 0 or -1; x ^ -1 is -1 - x, which mirrors the axis
    return sign ^ Index((std::uint64_t(std::uint32_t(token ^ sign)) * factor_) >> shift_);
  }

  /// The place within the block: 0 to size - 1.
  constexpr Index rest(Index token) const noexcept { return token - size_ * (*this)(token); }

  constexpr Index size() const noexcept { return size_; }

 private:
  static constexpr int bits(Index size) noexcept { return int(std::bit_width(std::uint64_t(size - 1))); }

  std::uint64_t factor_;  ///< below 2^33: the product with a token fits 64 bits
  int shift_;
  Index size_;
};

}  // namespace headwise
