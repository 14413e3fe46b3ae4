#pragma once

#include <headwise/core/math.hpp>

namespace headwise::kernel {

/// A hidden score.
template <class Scalar>
constexpr Scalar hidden() noexcept {
  return Scalar(-math::infinity<Scalar>);
}

/// True unless the score is -inf: what was masked, or removed by a bias of -inf. A NaN is seen.
template <class Scalar>
constexpr bool is_seen(const Scalar& score) noexcept {
  return !(math::real(score) == -math::infinity<Scalar>);
}

/// log(exp(a) + exp(b)); -inf is the neutral element.
template <class Scalar>
Scalar log_add(Scalar a, Scalar b) noexcept {
  const bool a_larger = math::real(a) >= math::real(b);
  const Scalar high = a_larger ? a : b, low = a_larger ? b : a;
  if (!is_seen(high)) return high;
  return high + math::log(Scalar(1) + math::exp(low - high));
}

/// The weight of a partial result with log-sum-exp `part` in a whole with log-sum-exp `whole`: exp(part -
/// whole), and 0 for an empty part, even of an empty whole.
template <class Scalar>
Scalar share(Scalar part, Scalar whole) noexcept {
  return is_seen(part) ? math::exp(part - whole) : Scalar(0);
}

}  // namespace headwise::kernel
