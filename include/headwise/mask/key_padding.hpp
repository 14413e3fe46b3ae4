#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/policy.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headwise::mask {

/// Padding anywhere: one bool for each row of the caller's key matrix, true for a real token.
///
///     allows(query, key)  <=>  real[key row]
///
/// Serves padding in front, at the end, and holes between. Where the padding is all at the end, KeyLengths
/// says the same as one run a query. Cost: a tile of keys is judged from two running counts, so whatever is
/// all padding is skipped and whatever is all real is not tested. Throws ShapeError when there is not one
/// bool for each key row.
class KeyPadding {
 public:
  static constexpr bool reads_query = false;

  explicit KeyPadding(const std::vector<bool>& real) { count(real); }

  /// What a bool matrix [sequences, k_len] or an array holds: {mask.data(), mask.size()}.
  explicit KeyPadding(std::span<const bool> real) { count(real); }

  /// The keys of one sequence: real_before[k] rows before its row k are real, counted from any origin, and
  /// modulo 2^32, which differences within one sequence do not notice.
  struct Bound {
    static constexpr Coordinates coordinates = Coordinates::rows;
    static constexpr bool reads_query = false;

    const std::uint32_t* real_before = nullptr;

    bool allows(Index, Index key) const noexcept { return real_before[key + 1] != real_before[key]; }

    Coverage coverage(Tile tile) const noexcept {
      const Index real = Index(real_before[tile.keys.end] - real_before[tile.keys.begin]);
      if (real == 0) return Coverage::none;
      return real == tile.keys.size() ? Coverage::full : Coverage::partial;
    }
  };

  Bound bind(const Context& context) const noexcept { return {real_before_.data() + context.key_rows.begin}; }

  void check(const Context& context) const {
    const Index rows = Index(real_before_.size()) - 1;
    const bool last = context.sequence == context.sequences - 1;
    if (last ? rows == context.key_rows.end : rows >= context.key_rows.end) return;
    fail_shape("KeyPadding: number of flags", std::to_string(rows), std::to_string(context.key_rows.end),
               "give one bool for each row of key");
  }

 private:
  void count(const auto& real) {
    real_before_.reserve(std::size_t(real.size()) + 1);
    real_before_.push_back(0);
    for (const bool each : real) real_before_.push_back(real_before_.back() + std::uint32_t(each));
  }

  std::vector<std::uint32_t> real_before_;
};

}  // namespace headwise::mask
