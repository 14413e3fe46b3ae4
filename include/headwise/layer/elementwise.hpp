#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/executor.hpp>
#include <headwise/core/lanes.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/core/parameter.hpp>
#include <headwise/core/product.hpp>
#include <headwise/core/row_chunks.hpp>

#include <concepts>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>

namespace headwise {

namespace detail {

/// f of each number of x, which is a matrix to be read, or a temporary that gives its memory.
template <class Scalar, class X, class F>
Matrix<Scalar> transformed(X&& x, F f, const Executor& executor) {
  const Index width = x.cols();
  return with_changed_rows<Scalar>(
      std::forward<X>(x), executor, 3.0 * double(width),
      [&](Scalar* numbers, Range rows) { transform_lanes(numbers, rows.size() * width, f); });
}

/// f(x(i, j), y(i, j)) for a y of equal shape, or of one row that serves all; x as above.
template <class Scalar, class X, class F>
Matrix<Scalar> combined(std::string_view verb, X&& x, const ConstMatrixRef<Scalar>& y, F f,
                        const Executor& executor) {
  const std::string name(verb);
  const Index width = x.cols();
  expect_equal(name + ": columns of the right operand", y.cols(), width);
  if (y.rows() != 1) {
    expect_equal(name + ": rows of the right operand", y.rows(), x.rows(),
                 "as many as the left, or one for all");
  }
  const Index step = y.rows() == 1 ? 0 : y.outerStride();
  return with_changed_rows<Scalar>(std::forward<X>(x), executor, 3.0 * double(width),
                                   [&](Scalar* numbers, Range rows) {
                                     for (Index row = rows.begin; row < rows.end; ++row, numbers += width)
                                       combine_lanes(numbers, y.data() + row * step, width, f);
                                   });
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

}  // namespace detail

// Each verb has two forms: one reads anything computable, one reuses the memory of a temporary matrix.
// Results are owned matrices, never expressions; an executor shares rows, and changes no bits.

/// x + y.   x [n, m], y [n, m] or one row [1, m] for all -> [n, m]. Throws ShapeError when the shapes differ.
template <Computable X, Computable Y>
Matrix<scalar_of<X>> add(const X& x, const Y& y, const Executor& executor = {}) {
  return detail::combined<scalar_of<X>>(
      "add", value_of(x), value_of(y), [](auto a, auto b) { return a + b; }, executor);
}
template <class Scalar, Computable Y>
Matrix<Scalar> add(Matrix<Scalar>&& x, const Y& y, const Executor& executor = {}) {
  return detail::combined<Scalar>(
      "add", std::move(x), value_of(y), [](Scalar a, Scalar b) { return a + b; }, executor);
}

/// x - y.   x [n, m], y [n, m] or [1, m] -> [n, m]. Throws ShapeError when the shapes differ.
template <Computable X, Computable Y>
Matrix<scalar_of<X>> subtract(const X& x, const Y& y, const Executor& executor = {}) {
  return detail::combined<scalar_of<X>>(
      "subtract", value_of(x), value_of(y), [](auto a, auto b) { return a - b; }, executor);
}

/// x o y, number by number.   x [n, m], y [n, m] or [1, m] -> [n, m]. Throws ShapeError when the shapes
/// differ.
template <Computable X, Computable Y>
Matrix<scalar_of<X>> multiply_elementwise(const X& x, const Y& y, const Executor& executor = {}) {
  return detail::combined<scalar_of<X>>(
      "multiply_elementwise", value_of(x), value_of(y), [](auto a, auto b) { return a * b; }, executor);
}
template <class Scalar, Computable Y>
Matrix<Scalar> multiply_elementwise(Matrix<Scalar>&& x, const Y& y, const Executor& executor = {}) {
  return detail::combined<Scalar>(
      "multiply_elementwise", std::move(x), value_of(y), [](Scalar a, Scalar b) { return a * b; }, executor);
}

/// factor x.   x [n, m] -> [n, m].
template <Computable X>
Matrix<scalar_of<X>> multiply_scalar(const X& x, double factor, const Executor& executor = {}) {
  using Scalar = scalar_of<X>;
  return detail::transformed<Scalar>(
      value_of(x), [f = Scalar(factor)](Scalar a) { return f * a; }, executor);
}

/// x W^T + b, on the threads of an executor if one is given.   x [n, in], weight [out, in], bias [1, out] ->
/// [n, out]. Throws ShapeError when the shapes differ. Cost: 2 n in out FLOPs.
template <Computable X, Computable W, Computable B>
Matrix<scalar_of<X>> affine(const X& x, const W& weight, const B& bias, const Executor& executor = {}) {
  using Scalar = scalar_of<X>;
  expect_equal("affine: rows of the bias", bias.rows(), 1);
  expect_equal("affine: columns of the bias", bias.cols(), weight.rows());
  return detail::combined<Scalar>(
      "affine", multiply_transposed(x, weight, executor), value_of(bias),
      [](Scalar a, Scalar b) { return a + b; }, executor);
}

/// max(x, 0).   x [n, m] -> [n, m]; NaN stays.
template <Computable X>
Matrix<scalar_of<X>> relu(const X& x, const Executor& executor = {}) {
  return detail::transformed<scalar_of<X>>(value_of(x), detail::Relu<scalar_of<X>>{}, executor);
}
template <class Scalar>
Matrix<Scalar> relu(Matrix<Scalar>&& x, const Executor& executor = {}) {
  return detail::transformed<Scalar>(std::move(x), detail::Relu<Scalar>{}, executor);
}

/// x (1 + erf(x / sqrt 2)) / 2.   x [n, m] -> [n, m].
/// Paper: Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016, section 2.
template <Computable X>
Matrix<scalar_of<X>> gelu(const X& x, const Executor& executor = {}) {
  return detail::transformed<scalar_of<X>>(value_of(x), detail::Gelu<scalar_of<X>>{}, executor);
}
template <class Scalar>
Matrix<Scalar> gelu(Matrix<Scalar>&& x, const Executor& executor = {}) {
  return detail::transformed<Scalar>(std::move(x), detail::Gelu<Scalar>{}, executor);
}

/// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, the approximation that GPT-2 and BLOOM use.   [n, m] ->
/// [n, m]. Paper: Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016, section 2.
template <Computable X>
Matrix<scalar_of<X>> gelu_tanh(const X& x, const Executor& executor = {}) {
  return detail::transformed<scalar_of<X>>(value_of(x), detail::GeluTanh<scalar_of<X>>{}, executor);
}
template <class Scalar>
Matrix<Scalar> gelu_tanh(Matrix<Scalar>&& x, const Executor& executor = {}) {
  return detail::transformed<Scalar>(std::move(x), detail::GeluTanh<Scalar>{}, executor);
}

/// x / (1 + exp(-x)), also called swish.   x [n, m] -> [n, m].
/// Paper: Ramachandran et al., "Searching for Activation Functions", 2017, section 4.
template <Computable X>
Matrix<scalar_of<X>> silu(const X& x, const Executor& executor = {}) {
  return detail::transformed<scalar_of<X>>(value_of(x), detail::Silu<scalar_of<X>>{}, executor);
}
template <class Scalar>
Matrix<Scalar> silu(Matrix<Scalar>&& x, const Executor& executor = {}) {
  return detail::transformed<Scalar>(std::move(x), detail::Silu<Scalar>{}, executor);
}

/// 1 / (1 + exp(-x)).   x [n, m] -> [n, m].
template <Computable X>
Matrix<scalar_of<X>> sigmoid(const X& x, const Executor& executor = {}) {
  return detail::transformed<scalar_of<X>>(value_of(x), detail::Sigmoid<scalar_of<X>>{}, executor);
}

/// tanh(x), number by number.   x [n, m] -> [n, m].
template <Computable X>
Matrix<scalar_of<X>> tanh(const X& x, const Executor& executor = {}) {
  return detail::transformed<scalar_of<X>>(value_of(x), detail::Tanh<scalar_of<X>>{}, executor);
}

}  // namespace headwise
