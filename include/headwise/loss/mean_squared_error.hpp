#pragma once

#include <headwise/core/error.hpp>
#include <headwise/layer/elementwise.hpp>
#include <headwise/layer/normalise.hpp>
#include <headwise/loss/evaluated.hpp>

#include <vector>

namespace headwise::loss {

struct MeanSquaredErrorOptions {
  std::vector<bool> counted{};  ///< one a row: false for rows that do not count; empty: all count
  Reduction reduction = Reduction::mean;
};

namespace detail {

template <class Scalar>
Scalar mean_square(const ConstMatrixRef<Scalar>& x, const MeanSquaredErrorOptions& options,
                   Matrix<Scalar>* gradient) {
  const auto counts = [&](Index row) { return options.counted.empty() || options.counted[std::size_t(row)]; };
  Index rows = 0;
  for (Index row = 0; row < x.rows(); ++row) rows += counts(row) ? 1 : 0;
  const double weight = share(options.reduction, rows * x.cols());
  if (gradient != nullptr) *gradient = Matrix<Scalar>::Zero(x.rows(), x.cols());
  Total<Scalar> total(0);
  for (Index row = 0; row < x.rows(); ++row) {
    if (!counts(row)) continue;
    const Scalar* numbers = x.data() + row * x.outerStride();
    total += Total<Scalar>(headwise::detail::sum_of(numbers, x.cols(), [](Scalar v) { return v * v; }));
    if (gradient != nullptr) gradient->row(row) = Scalar(2 * weight) * x.row(row);
  }
  return Scalar(Total<Scalar>(weight) * total);
}

}  // namespace detail

/// The mean squared error, over all numbers of the rows that count.
///
///     mean((prediction - target)^2)
///
/// prediction, target [n, m]: matrices -> the number; a variable among them -> a variable [1, 1]. Where a
/// target is computed by what learns, stop_gradient(target) keeps it still.
/// Throws ShapeError when the shapes differ, or `counted` has not one entry a row.
template <Sequence Prediction, Sequence Target>
auto mean_squared_error(const Prediction& prediction, const Target& target,
                        const MeanSquaredErrorOptions& options = {}) {
  expect_equal("mean_squared_error: rows of the target", target.rows(), prediction.rows());
  expect_equal("mean_squared_error: columns of the target", target.cols(), prediction.cols());
  if (!options.counted.empty()) {
    expect_equal("mean_squared_error: counted", Index(options.counted.size()), prediction.rows(),
                 "one a row");
  }
  const auto difference = subtract(prediction, target);
  using Scalar = scalar_of<decltype(difference)>;
  return detail::evaluated(difference, [&](const ConstMatrixRef<Scalar>& x, Matrix<Scalar>* gradient) {
    return detail::mean_square<Scalar>(x, options, gradient);
  });
}

}  // namespace headwise::loss
