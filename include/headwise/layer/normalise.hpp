#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/lanes.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/core/product.hpp>
#include <headwise/core/row_chunks.hpp>

#include <cmath>
#include <string>
#include <utility>

namespace headwise {

namespace detail {

/// The sum of f(x[i]), in lanes that are added up in fixed order.
template <class Scalar, class F>
Scalar sum_of(const Scalar* x, Index count, F f) {
  return sum_lanes(count, f, x);
}

/// x[i] = (x[i] - mean) * factor * gain[i] + bias[i]; bias may be null.
template <class Scalar>
void scale_and_shift(Scalar* x, Index count, Scalar mean, Scalar factor, const Scalar* gain,
                     const Scalar* bias) {
  if (bias == nullptr) {
    update_lanes(
        count, [=](Scalar& v, Scalar g) { v = (v - mean) * factor * g; }, x, gain);
  } else {
    update_lanes(
        count, [=](Scalar& v, Scalar g, Scalar b) { v = (v - mean) * factor * g + b; }, x, gain, bias);
  }
}

/// The mean of the squares, not of the squared moduli, so that complex numbers can carry a derivative
/// through.
template <class Scalar>
void layer_norm_row(Scalar* x, Index width, const Scalar* gain, const Scalar* bias, Scalar eps) {
  using std::sqrt;
  const Scalar mean = sum_of(x, width, [](Scalar v) { return v; }) / Scalar(double(width));
  const Scalar variance =
      sum_of(x, width, [mean](Scalar v) { return (v - mean) * (v - mean); }) / Scalar(double(width));
  scale_and_shift(x, width, mean, Scalar(1) / sqrt(variance + eps), gain, bias);
}

template <class Scalar>
void rms_norm_row(Scalar* x, Index width, const Scalar* gain, Scalar eps) {
  using std::sqrt;
  const Scalar mean_square = sum_of(x, width, [](Scalar v) { return v * v; }) / Scalar(double(width));
  scale_and_shift<Scalar>(x, width, Scalar(0), Scalar(1) / sqrt(mean_square + eps), gain, nullptr);
}

/// x with norm(row) done to every row; a matrix to be read, or a temporary that gives its memory.
template <class Scalar, class X, class Norm>
Matrix<Scalar> normed(X&& x, const Executor& executor, Norm norm) {
  const Index width = x.cols();
  return with_changed_rows<Scalar>(std::forward<X>(x), executor, 4.0 * double(width),
                                   [&](Scalar* numbers, Range rows) {
                                     for (Index row = rows.begin; row < rows.end; ++row, numbers += width)
                                       norm(numbers);
                                   });
}

template <class Scalar>
void expect_row(const char* what, const ConstMatrixRef<Scalar>& row, Index width) {
  expect_equal(std::string(what) + " columns", row.cols(), width);
  expect_equal(std::string(what) + " rows", row.rows(), 1);
}

template <class Scalar, class X>
Matrix<Scalar> layer_normed(X&& x, const ConstMatrixRef<Scalar>& gain, double eps, const Executor& executor) {
  const Index width = x.cols();
  expect_row<Scalar>("layer_norm: gain", gain, width);
  return normed<Scalar>(std::forward<X>(x), executor, [&](Scalar* row) {
    layer_norm_row<Scalar>(row, width, gain.data(), nullptr, Scalar(eps));
  });
}

template <class Scalar, class X>
Matrix<Scalar> layer_normed(X&& x, const ConstMatrixRef<Scalar>& gain, const ConstMatrixRef<Scalar>& bias,
                            double eps, const Executor& executor) {
  const Index width = x.cols();
  expect_row<Scalar>("layer_norm: gain", gain, width);
  expect_row<Scalar>("layer_norm: bias", bias, width);
  return normed<Scalar>(std::forward<X>(x), executor, [&](Scalar* row) {
    layer_norm_row<Scalar>(row, width, gain.data(), bias.data(), Scalar(eps));
  });
}

}  // namespace detail

// An executor shares rows between threads, and changes no bits.

/// Each row to mean 0 and variance 1, then gain and bias.
///
///     gain (x - mean(x)) / sqrt(var(x) + eps) + bias      var: mean of squares, not of n - 1
///
/// x [n, m], gain [1, m], bias [1, m] -> [n, m]. Throws ShapeError when the widths differ.
/// Paper: Ba et al., "Layer Normalization", 2016, equation 4.
template <Computable X, Computable Gain, Computable Bias>
Matrix<scalar_of<X>> layer_norm(const X& x, const Gain& gain, const Bias& bias, double eps,
                                const Executor& executor = {}) {
  return detail::layer_normed<scalar_of<X>>(value_of(x), value_of(gain), value_of(bias), eps, executor);
}
template <class Scalar, Computable Gain, Computable Bias>
Matrix<Scalar> layer_norm(Matrix<Scalar>&& x, const Gain& gain, const Bias& bias, double eps,
                          const Executor& executor = {}) {
  return detail::layer_normed<Scalar>(std::move(x), value_of(gain), value_of(bias), eps, executor);
}

/// The same without a bias.
template <Computable X, Computable Gain>
Matrix<scalar_of<X>> layer_norm(const X& x, const Gain& gain, double eps, const Executor& executor = {}) {
  return detail::layer_normed<scalar_of<X>>(value_of(x), value_of(gain), eps, executor);
}

/// Each row to mean square 1, then gain; nothing is subtracted.
///
///     gain x / sqrt(mean(x^2) + eps)
///
/// x [n, m], gain [1, m] -> [n, m]. Throws ShapeError when the widths differ.
/// Paper: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019, equation 4.
template <Computable X, Computable Gain>
Matrix<scalar_of<X>> rms_norm(const X& x, const Gain& gain, double eps, const Executor& executor = {}) {
  using Scalar = scalar_of<X>;
  const ConstMatrixRef<Scalar> factors = value_of(gain);
  const Index width = x.cols();
  detail::expect_row<Scalar>("rms_norm: gain", factors, width);
  return detail::normed<Scalar>(value_of(x), executor, [&](Scalar* row) {
    detail::rms_norm_row<Scalar>(row, width, factors.data(), Scalar(eps));
  });
}

/// Each row to Euclidean length 1; a row of zeros stays.   x [n, m] -> [n, m].
template <Computable X>
Matrix<scalar_of<X>> normalise_rows(const X& x, const Executor& executor = {}) {
  using Scalar = scalar_of<X>;
  const Index width = x.cols();
  return detail::normed<Scalar>(value_of(x), executor, [&](Scalar* row) {
    using std::sqrt;
    const Scalar length = sqrt(detail::sum_of(row, width, [](Scalar v) { return v * v; }));
    if (length != Scalar(0)) Eigen::Map<Matrix<Scalar>>(row, 1, width) /= length;
  });
}

}  // namespace headwise
