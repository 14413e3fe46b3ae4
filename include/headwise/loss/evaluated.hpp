#pragma once

#include <headwise/core/matrix.hpp>

#include <concepts>
#include <type_traits>

namespace headwise::loss {

/// How the terms of a loss become one number.
enum class Reduction {
  mean,  ///< over the terms that count; 0 when none does
  sum
};

namespace detail {

/// Long sums of float are kept in double.
template <class Scalar>
using Total = std::conditional_t<std::same_as<Scalar, float>, double, Scalar>;

/// What a sum of `count` terms is multiplied with.
inline double share(Reduction reduction, Index count) noexcept {
  return reduction == Reduction::sum ? 1.0 : count > 0 ? 1.0 / double(count) : 0.0;
}

/// f(x, gradient or null): of a matrix a number, without the gradient; of a variable a variable [1, 1], which
/// its tape makes in a verb of its own, found by argument-dependent lookup.
template <Sequence X, class F>
auto evaluated(const X& x, const F& f) {
  using Scalar = scalar_of<X>;
  if constexpr (RealMatrix<X>) {
    const ConstMatrixRef<Scalar> numbers(x);
    return f(numbers, static_cast<Matrix<Scalar>*>(nullptr));
  } else {
    return scalar_value(x, f);
  }
}

}  // namespace detail
}  // namespace headwise::loss
