#pragma once

#include <headwise/core/math.hpp>
#include <headwise/kernel/simd.hpp>

#include <limits>

namespace headwise::kernel {

/// The softmax of one block of queries, one query a lane, over keys that arrive tile by tile.
///
///     maximum   a running reference, no smaller than the largest score minus `slack`
///     sum       sum of exp(score - maximum)
///
/// The reference follows the largest score only when it is left behind by more than `slack`: until then the
/// weights stay below exp(slack), and nothing that was summed has to be scaled again.
/// It starts at the lowest finite number, never at -inf, so that a hidden score (-inf) weighs 0, not NaN.
/// Paper: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018, section 3.
template <class Scalar>
struct OnlineSoftmax {
  using Real = math::real_of<Scalar>;
  static constexpr int lanes = MicroTile<Scalar>::lanes;
  static constexpr int keys = MicroTile<Scalar>::keys;
  static constexpr Real slack = 8;
  using PerLane = typename MicroTile<Scalar>::template PerLane<Scalar>;
  using RealPerLane = typename MicroTile<Scalar>::template PerLane<Real>;
  using Tile = typename MicroTile<Scalar>::template PerPair<Scalar>;

  alignas(64) RealPerLane maximum;
  alignas(64) PerLane sum;

  void reset() noexcept {
    for (int lane = 0; lane < lanes; ++lane) {
      maximum[lane] = std::numeric_limits<Real>::lowest();
      sum[lane] = Scalar(0);
    }
  }

  /// Raises the reference where these scores have left it behind. Returns whether any lane was raised; then
  /// `factor` tells by what to multiply the weighted values so far (the sum is scaled here).
  bool raise(const Tile& score, PerLane& factor) noexcept {
    RealPerLane largest, reference;
    for (int lane = 0; lane < lanes; ++lane) {
      reference[lane] = maximum[lane];
      largest[lane] = math::real(score[0][lane]);
    }
    for (int key = 1; key < keys; ++key) {
      for (int lane = 0; lane < lanes; ++lane) {
        const Real s = math::real(score[key][lane]);
        largest[lane] = s > largest[lane] ? s : largest[lane];
      }
    }
    int raised = 0;
    for (int lane = 0; lane < lanes; ++lane) raised |= int(largest[lane] > reference[lane] + slack);
    if (raised == 0) return false;
    for (int lane = 0; lane < lanes; ++lane) {
      const Real higher = largest[lane] > reference[lane] ? largest[lane] : reference[lane];
      factor[lane] = math::exp(Scalar(reference[lane] - higher));
      sum[lane] *= factor[lane];
      maximum[lane] = higher;
    }
    return true;
  }

  /// Turns scores into weights exp(score - maximum), in place, and adds them to the sum.
  void weigh(Tile& score) noexcept {
    PerLane reference, total;
    for (int lane = 0; lane < lanes; ++lane) {
      reference[lane] = Scalar(maximum[lane]);
      total[lane] = sum[lane];
    }
    for (int key = 0; key < keys; ++key) {
      for (int lane = 0; lane < lanes; ++lane) {
        const Scalar weight = math::exp(score[key][lane] - reference[lane]);
        score[key][lane] = weight;
        total[lane] += weight;
      }
    }
    for (int lane = 0; lane < lanes; ++lane) sum[lane] = total[lane];
  }

  /// The query of this lane saw no key.
  bool empty(int lane) const noexcept { return sum[lane] == Scalar(0); }

  /// log sum exp of all scores; -inf when there were none.
  Scalar log_sum_exp(int lane) const noexcept {
    return empty(lane) ? Scalar(-math::infinity<Scalar>) : Scalar(maximum[lane]) + math::log(sum[lane]);
  }
};

/// log(exp(a) + exp(b)); -inf is the neutral element.
template <class Scalar>
Scalar log_add(Scalar a, Scalar b) noexcept {
  const bool a_larger = math::real(a) >= math::real(b);
  const Scalar high = a_larger ? a : b, low = a_larger ? b : a;
  if (math::real(high) == -math::infinity<Scalar>) return high;
  return high + math::log(Scalar(1) + math::exp(low - high));
}

/// The weight of a partial result with log-sum-exp `part` in a whole with log-sum-exp `whole`: exp(part -
/// whole), and 0 for an empty part, even of an empty whole.
template <class Scalar>
Scalar share(Scalar part, Scalar whole) noexcept {
  return math::real(part) == -math::infinity<Scalar> ? Scalar(0) : math::exp(part - whole);
}

}  // namespace headwise::kernel
