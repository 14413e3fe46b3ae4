#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/matrix.hpp>

#include <cmath>

/// Norms of single heads without learned numbers, and their derivatives: what content-based patterns compare
/// tokens by.
namespace headwise {

namespace attention {

template <class Scalar>
Scalar root(const Scalar& x) {
  using std::sqrt;
  return sqrt(x);
}

/// body(row, first column) for every head of every row.
template <class Body>
void for_each_head_row(const char* what, Index rows, Index cols, Index heads, Body&& body) {
  expect_positive(std::string(what) + ": heads", heads);
  expect_multiple(std::string(what) + ": columns", cols, heads, "heads");
  const Index dim = cols / heads;
  for (Index row = 0; row < rows; ++row)
    for (Index head = 0; head < heads; ++head) body(row, head * dim, dim);
}

}  // namespace attention

/// Every head of every row at length one; a head of zeros stays as it is.
///
///     y = x / sqrt(x . x + epsilon)
///
/// x [n, heads * head_dim] -> the same shape. Throws ShapeError when heads does not divide the columns.
/// Cost: O(n heads head_dim).
template <RealMatrix X>
Matrix<scalar_of<X>> unit_heads(const X& x, Index heads, double epsilon = 0) {
  using Scalar = scalar_of<X>;
  Matrix<Scalar> y = x;
  attention::for_each_head_row("unit_heads", y.rows(), y.cols(), heads, [&](Index row, Index at, Index dim) {
    auto head = y.row(row).segment(at, dim);
    const Scalar square = head.cwiseProduct(head).sum() + Scalar(math::real_of<Scalar>(epsilon));
    if (square != Scalar(0)) head /= attention::root(square);
  });
  return y;
}

/// The gradient of x, given that of unit_heads(x).
///
///     d_x = (d_y - y (y . d_y)) / sqrt(x . x + epsilon);   zero for a head of zeros
///
/// Throws ShapeError when the shapes differ.
template <RealMatrix X, RealMatrix D>
requires SameScalar<X, D> Matrix<scalar_of<X>> unit_heads_backward(const X& x, const D& d_y, Index heads,
                                                                   double epsilon = 0) {
  using Scalar = scalar_of<X>;
  expect_equal("unit_heads_backward: rows of d_y", d_y.rows(), x.rows());
  expect_equal("unit_heads_backward: columns of d_y", d_y.cols(), x.cols());
  const Matrix<Scalar> in = x;
  Matrix<Scalar> d = d_y;
  attention::for_each_head_row("unit_heads", d.rows(), d.cols(), heads, [&](Index row, Index at, Index dim) {
    const auto head = in.row(row).segment(at, dim);
    auto gradient = d.row(row).segment(at, dim);
    const Scalar square = head.cwiseProduct(head).sum() + Scalar(math::real_of<Scalar>(epsilon));
    const Scalar dot = head.cwiseProduct(gradient).sum();
    if (square == Scalar(0)) {
      gradient.setZero();
    } else {
      gradient = (gradient - head * (dot / square)) / attention::root(square);
    }
  });
  return d;
}

/// Every head of every row with mean 0 and variance 1, so that its square length is head_dim.
///
///     y = (x - mean(x)) / sqrt(variance(x) + epsilon)
///
/// x [n, heads * head_dim] -> the same shape. A head of equal numbers becomes zeros. Throws ShapeError when
/// heads does not divide the columns. Cost: O(n heads head_dim).
/// Paper: Ba et al., "Layer Normalization", 2016, equation 3, without gain and bias.
template <RealMatrix X>
Matrix<scalar_of<X>> standard_heads(const X& x, Index heads, double epsilon = 0) {
  using Scalar = scalar_of<X>;
  using Real = math::real_of<Scalar>;
  Matrix<Scalar> y = x;
  attention::for_each_head_row(
      "standard_heads", y.rows(), y.cols(), heads, [&](Index row, Index at, Index dim) {
        const Scalar n = Scalar(Real(dim));
        auto head = y.row(row).segment(at, dim);
        head.array() -= head.sum() / n;
        const Scalar variance = head.cwiseProduct(head).sum() / n + Scalar(Real(epsilon));
        if (variance != Scalar(0)) head /= attention::root(variance);
      });
  return y;
}

/// The gradient of x, given that of standard_heads(x).
///
///     d_x = (d_y - mean(d_y) - y mean(y o d_y)) / sqrt(variance(x) + epsilon)
///
/// Throws ShapeError when the shapes differ.
template <RealMatrix X, RealMatrix D>
requires SameScalar<X, D> Matrix<scalar_of<X>> standard_heads_backward(const X& x, const D& d_y, Index heads,
                                                                       double epsilon = 0) {
  using Scalar = scalar_of<X>;
  using Real = math::real_of<Scalar>;
  expect_equal("standard_heads_backward: rows of d_y", d_y.rows(), x.rows());
  expect_equal("standard_heads_backward: columns of d_y", d_y.cols(), x.cols());
  Matrix<Scalar> in = x;
  Matrix<Scalar> d = d_y;
  attention::for_each_head_row(
      "standard_heads", d.rows(), d.cols(), heads, [&](Index row, Index at, Index dim) {
        const Scalar n = Scalar(Real(dim));
        auto head = in.row(row).segment(at, dim);
        auto gradient = d.row(row).segment(at, dim);
        head.array() -= head.sum() / n;
        const Scalar variance = head.cwiseProduct(head).sum() / n + Scalar(Real(epsilon));
        if (variance == Scalar(0)) return gradient.setZero(), void();
        const Scalar dot = head.cwiseProduct(gradient).sum() / n;
        gradient.array() -= gradient.sum() / n;
        gradient = (gradient - head * (dot / variance)) / attention::root(variance);
      });
  return d;
}

}  // namespace headwise
