#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/lanes.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/core/product.hpp>

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
void layer_norm_rows(Matrix<Scalar>& x, const Scalar* gain, const Scalar* bias, Scalar eps) {
  using std::sqrt;
  const Index width = x.cols();
  for (Index row = 0; row < x.rows(); ++row) {
    Scalar* data = x.data() + row * width;
    const Scalar mean = sum_of(data, width, [](Scalar v) { return v; }) / Scalar(double(width));
    const Scalar variance =
        sum_of(data, width, [mean](Scalar v) { return (v - mean) * (v - mean); }) / Scalar(double(width));
    scale_and_shift(data, width, mean, Scalar(1) / sqrt(variance + eps), gain, bias);
  }
}

template <class Scalar>
void rms_norm_rows(Matrix<Scalar>& x, const Scalar* gain, Scalar eps) {
  using std::sqrt;
  const Index width = x.cols();
  for (Index row = 0; row < x.rows(); ++row) {
    Scalar* data = x.data() + row * width;
    const Scalar mean_square = sum_of(data, width, [](Scalar v) { return v * v; }) / Scalar(double(width));
    scale_and_shift<Scalar>(data, width, Scalar(0), Scalar(1) / sqrt(mean_square + eps), gain, nullptr);
  }
}

template <class Scalar>
void expect_row(const char* what, const ConstMatrixRef<Scalar>& row, Index width) {
  expect_equal(std::string(what) + " columns", row.cols(), width);
  expect_equal(std::string(what) + " rows", row.rows(), 1);
}

template <class Scalar>
Matrix<Scalar> layer_normed(Matrix<Scalar> x, const ConstMatrixRef<Scalar>& gain, double eps) {
  expect_row<Scalar>("layer_norm: gain", gain, x.cols());
  layer_norm_rows<Scalar>(x, gain.data(), nullptr, Scalar(eps));
  return x;
}

template <class Scalar>
Matrix<Scalar> layer_normed(Matrix<Scalar> x, const ConstMatrixRef<Scalar>& gain,
                            const ConstMatrixRef<Scalar>& bias, double eps) {
  expect_row<Scalar>("layer_norm: gain", gain, x.cols());
  expect_row<Scalar>("layer_norm: bias", bias, x.cols());
  layer_norm_rows<Scalar>(x, gain.data(), bias.data(), Scalar(eps));
  return x;
}

template <class Scalar>
Matrix<Scalar> rms_normed(Matrix<Scalar> x, const ConstMatrixRef<Scalar>& gain, double eps) {
  expect_row<Scalar>("rms_norm: gain", gain, x.cols());
  rms_norm_rows<Scalar>(x, gain.data(), Scalar(eps));
  return x;
}

}  // namespace detail

/// Each row to mean 0 and variance 1, then gain and bias.
///
///     gain (x - mean(x)) / sqrt(var(x) + eps) + bias      var: mean of squares, not of n - 1
///
/// x [n, m], gain [1, m], bias [1, m] -> [n, m]. Throws ShapeError when the widths differ.
/// Paper: Ba et al., "Layer Normalization", 2016, equation 4.
template <Computable X, Computable Gain, Computable Bias>
Matrix<scalar_of<X>> layer_norm(const X& x, const Gain& gain, const Bias& bias, double eps) {
  return detail::layer_normed<scalar_of<X>>(value_of(x), value_of(gain), value_of(bias), eps);
}
template <class Scalar, Computable Gain, Computable Bias>
Matrix<Scalar> layer_norm(Matrix<Scalar>&& x, const Gain& gain, const Bias& bias, double eps) {
  return detail::layer_normed<Scalar>(std::move(x), value_of(gain), value_of(bias), eps);
}

/// The same without a bias.
template <Computable X, Computable Gain>
Matrix<scalar_of<X>> layer_norm(const X& x, const Gain& gain, double eps) {
  return detail::layer_normed<scalar_of<X>>(value_of(x), value_of(gain), eps);
}

/// Each row to mean square 1, then gain; nothing is subtracted.
///
///     gain x / sqrt(mean(x^2) + eps)
///
/// x [n, m], gain [1, m] -> [n, m]. Throws ShapeError when the widths differ.
/// Paper: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019, equation 4.
template <Computable X, Computable Gain>
Matrix<scalar_of<X>> rms_norm(const X& x, const Gain& gain, double eps) {
  return detail::rms_normed<scalar_of<X>>(value_of(x), value_of(gain), eps);
}

/// Each row to Euclidean length 1; a row of zeros stays.   x [n, m] -> [n, m].
template <Computable X>
Matrix<scalar_of<X>> normalise_rows(const X& x) {
  using Scalar = scalar_of<X>;
  using std::sqrt;
  Matrix<Scalar> out = value_of(x);
  for (Index row = 0; row < out.rows(); ++row) {
    const Scalar length =
        sqrt(detail::sum_of(out.data() + row * out.cols(), out.cols(), [](Scalar v) { return v * v; }));
    if (length != Scalar(0)) out.row(row) /= length;
  }
  return out;
}

}  // namespace headwise
