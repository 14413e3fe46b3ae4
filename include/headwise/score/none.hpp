#pragma once

#include <headwise/core/policy.hpp>

namespace headwise::score {

/// The score as it is: scale * query . key. Costs nothing, not even a call.
struct None {
  using policy = ScoreTag;
  static constexpr bool reads_query = false;

  template <class Scalar>
  struct Bound {
    static constexpr bool identity = true;

    constexpr Scalar operator()(Scalar s, Position, Position) const noexcept { return s; }
    constexpr PullBack<Scalar> pull_back(Scalar, Position, Position, Scalar d) const noexcept {
      return {d, {}};
    }
  };

  template <class Scalar>
  constexpr Bound<Scalar> bind(const Context&) const noexcept {
    return {};
  }
};

}  // namespace headwise::score
