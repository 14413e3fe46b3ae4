#pragma once

#include <headwise/autograd/record.hpp>
#include <headwise/layer/normalise.hpp>

#include <cmath>
#include <utility>

namespace headwise::autograd {

namespace detail {

/// What is subtracted from a row and what it is divided by: y = (x - mean) / deviation.
template <class Scalar>
struct RowScale {
  Scalar mean{}, inverse{};
};

template <class Scalar>
RowScale<Scalar> layer_scale(const Scalar* x, Index width, Scalar eps) {
  using std::sqrt;
  const Scalar mean = headwise::detail::sum_of(x, width, [](Scalar v) { return v; }) / Scalar(double(width));
  const Scalar variance =
      headwise::detail::sum_of(x, width, [mean](Scalar v) { return (v - mean) * (v - mean); }) /
      Scalar(double(width));
  return {mean, Scalar(1) / sqrt(variance + eps)};
}

template <class Scalar>
RowScale<Scalar> rms_scale(const Scalar* x, Index width, Scalar eps) {
  using std::sqrt;
  const Scalar square =
      headwise::detail::sum_of(x, width, [](Scalar v) { return v * v; }) / Scalar(double(width));
  return {Scalar(0), Scalar(1) / sqrt(square + eps)};
}

/// With n = (x - mean) inverse and g = d gain, one row's share of
///
///     d_x = inverse (g - [mean(g)] - n mean(g n)),   d_gain += d n
///
/// d becomes d_x. The bracket only where a mean was subtracted.
template <class Scalar>
void norm_backward_row(const Scalar* x, RowScale<Scalar> scale, const Scalar* gain, Index width, bool centred,
                       Scalar* d, Scalar* d_gain) {
  const auto normalised = [scale](Scalar v) { return (v - scale.mean) * scale.inverse; };
  update_lanes(
      width,
      [normalised](Scalar& of_x, Scalar& of_gain, Scalar v, Scalar factor) {
        of_gain += of_x * normalised(v);
        of_x *= factor;
      },
      d, d_gain, x, gain);
  const Scalar count = Scalar(double(width));
  const Scalar mean =
      centred ? headwise::detail::sum_of(d, width, [](Scalar g) { return g; }) / count : Scalar(0);
  const Scalar along = sum_lanes(
                           width, [normalised](Scalar g, Scalar v) { return g * normalised(v); }, d, x) /
                       count;
  combine_lanes(d, x, width, [normalised, scale, mean, along](Scalar g, Scalar v) {
    return scale.inverse * (g - mean - normalised(v) * along);
  });
}

/// The gradients of x and gain. d enters as that of the result before the bias, and becomes that of x. Each
/// chunk of rows sums its own share of the gain's, which are added in order.
template <class Scalar, class ScaleOf>
void pull_back_norm(Sweep<Scalar>& sweep, const Var<Scalar>& x, const Var<Scalar>& gain, bool centred,
                    const Executor& executor, ScaleOf scale_of, Matrix<Scalar> d) {
  const Index width = x.cols();
  const double row_cost = 8.0 * double(width);
  Matrix<Scalar> shares = Matrix<Scalar>::Zero(row_chunks(x.rows(), row_cost), width);
  for_each_row_chunk(executor, x.rows(), row_cost, [&](Range rows, Index chunk) {
    for (Index row = rows.begin; row < rows.end; ++row) {
      const Scalar* numbers = x.value().data() + row * width;
      norm_backward_row(numbers, scale_of(numbers), gain.value().data(), width, centred,
                        d.data() + row * width, shares.data() + chunk * width);
    }
  });
  sweep.add(gain, column_sums(shares));
  sweep.add(x, std::move(d));
}

template <class Scalar>
auto layer_scale_of(Index width, double eps) {
  return [width, eps](const Scalar* row) { return layer_scale(row, width, Scalar(eps)); };
}

template <class Scalar>
Var<Scalar> layer_normed(const Var<Scalar>& x, const Var<Scalar>& gain, const Var<Scalar>& bias, double eps,
                         const Executor& executor) {
  return x.tape().record(
      headwise::layer_norm(x.value(), gain.value(), bias.value(), eps, executor), {x, gain, bias},
      [x, gain, bias, eps, executor](Sweep<Scalar>& sweep, Matrix<Scalar> d) {
        if (sweep.wants(bias)) sweep.add(bias, column_sums(d));
        pull_back_norm(sweep, x, gain, true, executor, layer_scale_of<Scalar>(x.cols(), eps), std::move(d));
      });
}

template <class Scalar>
Var<Scalar> layer_normed(const Var<Scalar>& x, const Var<Scalar>& gain, double eps,
                         const Executor& executor) {
  return x.tape().record(headwise::layer_norm(x.value(), gain.value(), eps, executor), {x, gain},
                         [x, gain, eps, executor](Sweep<Scalar>& sweep, Matrix<Scalar> d) {
                           pull_back_norm(sweep, x, gain, true, executor,
                                          layer_scale_of<Scalar>(x.cols(), eps), std::move(d));
                         });
}

template <class Scalar>
Var<Scalar> rms_normed(const Var<Scalar>& x, const Var<Scalar>& gain, double eps, const Executor& executor) {
  return x.tape().record(headwise::rms_norm(x.value(), gain.value(), eps, executor), {x, gain},
                         [x, gain, eps, executor](Sweep<Scalar>& sweep, Matrix<Scalar> d) {
                           const Index width = x.cols();
                           const auto scale_of = [width, eps](const Scalar* row) {
                             return rms_scale(row, width, Scalar(eps));
                           };
                           pull_back_norm(sweep, x, gain, false, executor, scale_of, std::move(d));
                         });
}

}  // namespace detail

// An executor is kept until the tape ends, for backward, and must live as long.

/// Each row to mean 0 and variance 1, then gain and bias, recorded.   x [n, m], gain, bias [1, m] -> [n, m]
///
///     d_x = (g - mean(g) - n mean(g n)) / sqrt(var(x) + eps)      n = (x - mean(x)) / sqrt(var(x) + eps)
///     d_gain = column sums of d n,   d_bias = column sums of d     g = d gain
template <class X, class Gain, class Bias>
requires Recorded<X, Gain, Bias>
auto layer_norm(const X& x, const Gain& gain, const Bias& bias, double eps, const Executor& executor = {}) {
  const auto [input, factor, shift] = detail::as_vars(x, gain, bias);
  return detail::layer_normed(input, factor, shift, eps, executor);
}

/// The same without a bias.
template <class X, class Gain>
requires Recorded<X, Gain>
auto layer_norm(const X& x, const Gain& gain, double eps, const Executor& executor = {}) {
  const auto [input, factor] = detail::as_vars(x, gain);
  return detail::layer_normed(input, factor, eps, executor);
}

/// Each row to mean square 1, then gain, recorded.   x [n, m], gain [1, m] -> [n, m]
///
///     d_x = (g - n mean(g n)) / sqrt(mean(x^2) + eps)      n = x / sqrt(mean(x^2) + eps), g = d gain
template <class X, class Gain>
requires Recorded<X, Gain>
auto rms_norm(const X& x, const Gain& gain, double eps, const Executor& executor = {}) {
  const auto [input, factor] = detail::as_vars(x, gain);
  return detail::rms_normed(input, factor, eps, executor);
}

/// Each row to Euclidean length 1, recorded; the gradient of a row of zeros is zero.   x [n, m] -> [n, m]
///
///     d_x = (d - y (d . y)) / |x|
template <class Scalar>
Var<Scalar> normalise_rows(const Var<Scalar>& x, const Executor& executor = {}) {
  const std::size_t result = x.tape().size();
  return x.tape().record(headwise::normalise_rows(x.value(), executor), {x},
                         [x, result](Sweep<Scalar>& sweep, Matrix<Scalar> d) {
                           const Matrix<Scalar>& y = x.tape().value(result);
                           for (Index row = 0; row < d.rows(); ++row) {
                             const Scalar length = x.value().row(row).norm();
                             const Scalar along = d.row(row).dot(y.row(row));
                             if (length == Scalar(0))
                               d.row(row).setZero();
                             else
                               d.row(row) = (d.row(row) - along * y.row(row)) / length;
                           }
                           sweep.add(x, std::move(d));
                         });
}

}  // namespace headwise::autograd
