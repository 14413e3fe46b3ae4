#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/executor.hpp>
#include <headwise/core/lanes.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/core/parameter.hpp>
#include <headwise/core/product.hpp>

#include <concepts>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>

namespace headwise {

namespace detail {

template <class Scalar, class F>
void transform(Matrix<Scalar>& x, F f) {
  transform_lanes(x.data(), x.size(), f);
}

/// x(i, j) = f(x(i, j), y(i, j)) for a y of equal shape, or of one row that serves all.
template <class Scalar, class F>
void combine(std::string_view verb, Matrix<Scalar>& x, const ConstMatrixRef<Scalar>& y, F f) {
  const std::string name(verb);
  expect_equal(name + ": columns of the right operand", y.cols(), x.cols());
  if (y.rows() != 1) {
    expect_equal(name + ": rows of the right operand", y.rows(), x.rows(),
                 "as many as the left, or one for all");
  }
  for (Index row = 0; row < x.rows(); ++row) {
    Scalar* a = x.data() + row * x.cols();
    const Scalar* b = y.data() + (y.rows() == 1 ? 0 : row * y.outerStride());
    combine_lanes(a, b, x.cols(), f);
  }
}

/// An owned copy of what is read, to be changed in place; a temporary matrix gives its memory instead.
template <Computable X>
Matrix<scalar_of<X>> owned(const X& x) {
  return value_of(x);
}
template <class Scalar>
Matrix<Scalar> owned(Matrix<Scalar>&& x) noexcept {
  return std::move(x);
}

template <class Scalar>
inline constexpr bool has_erf =
    std::same_as<Scalar, float> || std::same_as<Scalar, double> || std::same_as<Scalar, long double>;

template <class Scalar>
struct Relu {
  constexpr Scalar operator()(Scalar x) const noexcept {
    return math::select(math::real(x) < math::real_of<Scalar>(0), Scalar(0), x);
  }
};

template <class Scalar>
struct Sigmoid {
  Scalar operator()(Scalar x) const noexcept { return Scalar(1) / (Scalar(1) + math::exp(-x)); }
};

template <class Scalar>
struct Silu {
  Scalar operator()(Scalar x) const noexcept { return x / (Scalar(1) + math::exp(-x)); }
};

template <class Scalar>
struct Gelu {
  Scalar operator()(Scalar x) const noexcept {
    static_assert(has_erf<Scalar>,
                  "gelu: the error function needs a real scalar; use gelu_tanh with complex numbers");
    return Scalar(0.5) * x * (Scalar(1) + math::erf(x * Scalar(1 / std::numbers::sqrt2_v<Scalar>)));
  }
};

/// (1 + tanh(u)) / 2 is the logistic function of 2u, which does not cancel for negative u.
template <class Scalar>
struct GeluTanh {
  Scalar operator()(Scalar x) const noexcept {
    constexpr double sqrt_8_over_pi = 1.5957691216057307117597842397375;
    const Scalar twice_u = Scalar(sqrt_8_over_pi) * (x + Scalar(0.044715) * x * x * x);
    return x / (Scalar(1) + math::exp(-twice_u));
  }
};

template <class Scalar>
struct Tanh {
  Scalar operator()(Scalar x) const noexcept { return math::tanh(x); }
};

template <class Scalar, class F>
Matrix<Scalar> transformed(Matrix<Scalar> x, F f) {
  transform(x, f);
  return x;
}

template <class Scalar, class F>
Matrix<Scalar> combined(std::string_view verb, Matrix<Scalar> x, const ConstMatrixRef<Scalar>& y, F f) {
  combine<Scalar>(verb, x, y, f);
  return x;
}

}  // namespace detail

// Each verb has two forms: one reads anything computable, one reuses the memory of a temporary matrix.
// Results are owned matrices, never expressions.

/// x + y.   x [n, m], y [n, m] or one row [1, m] for all -> [n, m]. Throws ShapeError when the shapes differ.
template <Computable X, Computable Y>
Matrix<scalar_of<X>> add(const X& x, const Y& y) {
  return detail::combined<scalar_of<X>>("add", detail::owned(x), value_of(y),
                                        [](auto a, auto b) { return a + b; });
}
template <class Scalar, Computable Y>
Matrix<Scalar> add(Matrix<Scalar>&& x, const Y& y) {
  return detail::combined<Scalar>("add", std::move(x), value_of(y), [](Scalar a, Scalar b) { return a + b; });
}

/// x - y.   x [n, m], y [n, m] or [1, m] -> [n, m]. Throws ShapeError when the shapes differ.
template <Computable X, Computable Y>
Matrix<scalar_of<X>> subtract(const X& x, const Y& y) {
  return detail::combined<scalar_of<X>>("subtract", detail::owned(x), value_of(y),
                                        [](auto a, auto b) { return a - b; });
}

/// x o y, number by number.   x [n, m], y [n, m] or [1, m] -> [n, m]. Throws ShapeError when the shapes
/// differ.
template <Computable X, Computable Y>
Matrix<scalar_of<X>> multiply_elementwise(const X& x, const Y& y) {
  return detail::combined<scalar_of<X>>("multiply_elementwise", detail::owned(x), value_of(y),
                                        [](auto a, auto b) { return a * b; });
}
template <class Scalar, Computable Y>
Matrix<Scalar> multiply_elementwise(Matrix<Scalar>&& x, const Y& y) {
  return detail::combined<Scalar>("multiply_elementwise", std::move(x), value_of(y),
                                  [](Scalar a, Scalar b) { return a * b; });
}

/// factor x.   x [n, m] -> [n, m].
template <Computable X>
Matrix<scalar_of<X>> multiply_scalar(const X& x, double factor) {
  using Scalar = scalar_of<X>;
  return detail::transformed(detail::owned(x), [f = Scalar(factor)](Scalar a) { return f * a; });
}

/// x W^T + b, on the threads of an executor if one is given.   x [n, in], weight [out, in], bias [1, out] ->
/// [n, out]. Throws ShapeError when the shapes differ. Cost: 2 n in out FLOPs.
template <Computable X, Computable W, Computable B>
Matrix<scalar_of<X>> affine(const X& x, const W& weight, const B& bias, const Executor& executor = {}) {
  using Scalar = scalar_of<X>;
  expect_equal("affine: rows of the bias", bias.rows(), 1);
  expect_equal("affine: columns of the bias", bias.cols(), weight.rows());
  return detail::combined<Scalar>("affine", multiply_transposed(x, weight, executor), value_of(bias),
                                  [](Scalar a, Scalar b) { return a + b; });
}

/// max(x, 0).   x [n, m] -> [n, m]; NaN stays.
template <Computable X>
Matrix<scalar_of<X>> relu(const X& x) {
  return detail::transformed(detail::owned(x), detail::Relu<scalar_of<X>>{});
}
template <class Scalar>
Matrix<Scalar> relu(Matrix<Scalar>&& x) {
  return detail::transformed(std::move(x), detail::Relu<Scalar>{});
}

/// x (1 + erf(x / sqrt 2)) / 2.   x [n, m] -> [n, m].
/// Paper: Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016, section 2.
template <Computable X>
Matrix<scalar_of<X>> gelu(const X& x) {
  return detail::transformed(detail::owned(x), detail::Gelu<scalar_of<X>>{});
}
template <class Scalar>
Matrix<Scalar> gelu(Matrix<Scalar>&& x) {
  return detail::transformed(std::move(x), detail::Gelu<Scalar>{});
}

/// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, the approximation that GPT-2 and BLOOM use.   [n, m] ->
/// [n, m]. Paper: Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016, section 2.
template <Computable X>
Matrix<scalar_of<X>> gelu_tanh(const X& x) {
  return detail::transformed(detail::owned(x), detail::GeluTanh<scalar_of<X>>{});
}
template <class Scalar>
Matrix<Scalar> gelu_tanh(Matrix<Scalar>&& x) {
  return detail::transformed(std::move(x), detail::GeluTanh<Scalar>{});
}

/// x / (1 + exp(-x)), also called swish.   x [n, m] -> [n, m].
/// Paper: Ramachandran et al., "Searching for Activation Functions", 2017, section 4.
template <Computable X>
Matrix<scalar_of<X>> silu(const X& x) {
  return detail::transformed(detail::owned(x), detail::Silu<scalar_of<X>>{});
}
template <class Scalar>
Matrix<Scalar> silu(Matrix<Scalar>&& x) {
  return detail::transformed(std::move(x), detail::Silu<Scalar>{});
}

/// 1 / (1 + exp(-x)).   x [n, m] -> [n, m].
template <Computable X>
Matrix<scalar_of<X>> sigmoid(const X& x) {
  return detail::transformed(detail::owned(x), detail::Sigmoid<scalar_of<X>>{});
}

/// tanh(x), number by number.   x [n, m] -> [n, m].
template <Computable X>
Matrix<scalar_of<X>> tanh(const X& x) {
  return detail::transformed(detail::owned(x), detail::Tanh<scalar_of<X>>{});
}

}  // namespace headwise
