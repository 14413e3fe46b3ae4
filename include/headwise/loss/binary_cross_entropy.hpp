#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/math.hpp>
#include <headwise/loss/evaluated.hpp>

#include <cmath>
#include <concepts>
#include <string>

namespace headwise::loss {

namespace detail {

/// log(1 + x), exact also for an x that 1 would swallow.
template <class Scalar>
Scalar log_one_plus(Scalar x) {
  if constexpr (std::floating_point<Scalar>) {
    return std::log1p(x);
  } else {
    using std::log;
    return log(Scalar(1) + x);
  }
}

template <class Scalar>
Scalar binary_cross_entropy(const ConstMatrixRef<Scalar>& logits, const Matrix<Scalar>& targets,
                            Reduction reduction, Matrix<Scalar>* gradient) {
  const double weight = share(reduction, logits.size());
  if (gradient != nullptr) gradient->resize(logits.rows(), logits.cols());
  Total<Scalar> total(0);
  for (Index row = 0; row < logits.rows(); ++row) {
    for (Index column = 0; column < logits.cols(); ++column) {
      const Scalar a = logits(row, column), y = targets(row, column);
      const bool positive = math::real(a) > 0;
      const Scalar size = positive ? a : -a, small = math::exp(-size);  // never more than 1
      total += Total<Scalar>((positive ? a : Scalar(0)) - a * y + log_one_plus(small));
      if (gradient == nullptr) continue;
      const Scalar p = (positive ? Scalar(1) : small) / (Scalar(1) + small);
      (*gradient)(row, column) = Scalar(weight) * (p - y);
    }
  }
  return Scalar(Total<Scalar>(weight) * total);
}

}  // namespace detail

/// Binary cross-entropy with logits, each number a question of its own, with the gradient
/// (sigmoid(a) - y) / count.
///
///     max(a, 0) - a y + log(1 + exp(-|a|))
///
/// logits [n, m], a matrix -> the number; a variable -> a variable [1, 1]. targets [n, m], from 0 to 1.
/// Throws ShapeError when the shapes differ or a target is outside 0 to 1.
template <Sequence Logits>
auto binary_cross_entropy(const Logits& logits, const Matrix<scalar_of<Logits>>& targets,
                          Reduction reduction = Reduction::mean) {
  using Scalar = scalar_of<Logits>;
  expect_equal("binary_cross_entropy: rows of targets", targets.rows(), logits.rows());
  expect_equal("binary_cross_entropy: columns of targets", targets.cols(), logits.cols());
  for (Index i = 0; i < targets.size(); ++i) {
    const auto y = math::real(targets.data()[i]);
    if (!(y >= 0 && y <= 1)) fail_shape("binary_cross_entropy: a target", std::to_string(y), "0 to 1");
  }
  return detail::evaluated(logits, [&](const ConstMatrixRef<Scalar>& x, Matrix<Scalar>* gradient) {
    return detail::binary_cross_entropy<Scalar>(x, targets, reduction, gradient);
  });
}

}  // namespace headwise::loss
