#pragma once

#include <headwise/core/buffer.hpp>
#include <headwise/core/policy.hpp>

#include <array>
#include <span>

namespace headwise::kernel {

/// The gradients of a score's learned numbers, summed over the pairs of one head of one sequence.
///
/// Each number is summed the way its kind says, always in the order in which backward visits the pairs, so
/// that the bits do not depend on threads.
template <class Scalar, class Score>
class LearnedSums {
 public:
  static constexpr auto kinds = learned_of<Score>();
  static constexpr std::size_t count = kinds.size();
  using Numbers = std::array<Scalar, count>;

  /// `slots` are where per-pair gradients go, one a learned number (unused ones empty).
  LearnedSums(const Context& context, std::array<PairSlot<Scalar>, count> slots)
      : relative_(context.relative), slots_(slots) {
    for (std::size_t n = 0; n < count; ++n) {
      if (kinds[n] != Learned::per_distance) continue;
      per_distance_[n] = Buffer<Scalar>(relative_.size());
      per_distance_[n].fill(Scalar(0));
    }
  }

  void add(Place query, Place key, const Numbers& numbers) noexcept {
    for (std::size_t n = 0; n < count; ++n) {
      if (kinds[n] == Learned::number) {
        number_[n] += numbers[n];
      } else if (kinds[n] == Learned::per_distance) {
        per_distance_[n][Index(key.position) - query.position - relative_.begin] += numbers[n];
      } else if (kinds[n] == Learned::per_pair) {
        slots_[n].data[query.row * slots_[n].row_stride + key.row * slots_[n].column_stride] += numbers[n];
      }
    }
  }

  /// The gradient of the sink's logit, which no pair has.
  void add_to_sink(Scalar number) noexcept {
    for (std::size_t n = 0; n < count; ++n)
      if (kinds[n] == Learned::sink) number_[n] += number;
  }

  std::array<LearnedSum<Scalar>, count> sums() const noexcept {
    std::array<LearnedSum<Scalar>, count> result;
    for (std::size_t n = 0; n < count; ++n) {
      result[n].number = number_[n];
      result[n].per_distance = {per_distance_[n].data(), std::size_t(per_distance_[n].size())};
      result[n].first_distance = relative_.begin;
    }
    return result;
  }

 private:
  Range relative_;
  std::array<PairSlot<Scalar>, count> slots_{};
  Numbers number_{};
  std::array<Buffer<Scalar>, count> per_distance_{};
};

}  // namespace headwise::kernel
