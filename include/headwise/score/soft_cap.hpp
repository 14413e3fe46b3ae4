#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/policy.hpp>

#include <cmath>
#include <string>

namespace headwise::score {

/// Soft cap: scores are squeezed into (-limit, limit), and small ones hardly change.
///
///     s  <-  limit * tanh(s / limit)        derivative 1 - tanh(s / limit)^2
///
/// Cost: one branch-free tanh a visible pair. Saturates without overflow: the derivative of a huge score is
/// 0, never NaN. Throws ShapeError when limit is not a positive number. Paper: Gemma Team, "Gemma 2:
/// Improving Open Language Models at a Practical Size", 2024, section 2.
struct SoftCap {
  using policy = ScoreTag;
  static constexpr bool reads_query = false;

  double limit = 50;

  template <class Scalar>
  struct Bound {
    Scalar limit, reciprocal;

    [[gnu::always_inline]] Scalar operator()(Scalar s, Position, Position) const noexcept {
      return limit * math::tanh(s * reciprocal);
    }

    [[gnu::always_inline]] PullBack<Scalar> pull_back(Scalar s, Position, Position, Scalar d) const noexcept {
      const Scalar t = math::tanh(s * reciprocal);
      return {d * (Scalar(1) - t * t), {}};
    }
  };

  template <class Scalar>
  Bound<Scalar> bind(const Context&) const noexcept {
    return {Scalar(limit), Scalar(1 / limit)};
  }

  void check(const Context&) const {
    if (limit > 0 && std::isfinite(limit)) return;
    fail_shape("SoftCap: limit", std::to_string(limit), "a positive number");
  }
};

}  // namespace headwise::score
