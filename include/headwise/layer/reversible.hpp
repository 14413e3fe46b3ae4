#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/layer/elementwise.hpp>
#include <headwise/layer/rows.hpp>

#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace headwise {

namespace layer {

/// The two functions of a reversible residual layer.   f, g: [n, m] -> [n, m]
///
/// Both are called with matrices, or with variables of a tape. A function whose choices hang on the last bits
/// of its input, as buckets do, remembers them: `remember(x)` returns what it chose, `f(x, chosen)` computes.
template <class F, class G>
struct ReversiblePair {
  F f;
  G g;
};

/// ReversiblePair{f, g} with its types deduced.
template <class F, class G>
ReversiblePair<F, G> reversible_pair(F f, G g) {
  return {std::move(f), std::move(g)};
}

}  // namespace layer

namespace detail {

/// What a function remembers of a call: nothing, unless it says so.
struct NothingRemembered {};

template <class F, class Scalar>
concept Remembers = requires(const F& f, const Matrix<Scalar>& x) {
  f(x, f.remember(x));
};

template <class F, class Scalar>
auto remembered(const F& f, const Matrix<Scalar>& x) {
  if constexpr (Remembers<F, Scalar>) {
    return f.remember(x);
  } else {
    return NothingRemembered{};
  }
}

template <class F, class X, class Memory>
auto recalled(const F& f, const X& x, const Memory& memory) {
  if constexpr (std::same_as<Memory, NothingRemembered>) {
    return f(x);
  } else {
    return f(x, memory);
  }
}

/// What the functions of one layer remember.
template <class Layer, class Scalar>
struct ReversibleMemory {
  decltype(remembered(std::declval<const Layer&>().f, std::declval<const Matrix<Scalar>&>())) f;
  decltype(remembered(std::declval<const Layer&>().g, std::declval<const Matrix<Scalar>&>())) g;
};

template <class Layers>
using LayerOf = std::remove_cvref_t<decltype(*std::begin(std::declval<const Layers&>()))>;

/// Two streams through all layers, in place.
template <class Layers, class Scalar>
std::vector<ReversibleMemory<LayerOf<Layers>, Scalar>> run_reversible(const Layers& layers,
                                                                      Matrix<Scalar>& x1,
                                                                      Matrix<Scalar>& x2) {
  std::vector<ReversibleMemory<LayerOf<Layers>, Scalar>> memories;
  const auto added = [](Matrix<Scalar>& x, const Matrix<Scalar>& step) {
    expect_equal("reversible: rows of f(x)", step.rows(), x.rows(), "f and g keep the shape of x");
    expect_equal("reversible: columns of f(x)", step.cols(), x.cols(), "f and g keep the shape of x");
    x += step;
  };
  for (const auto& layer : layers) {
    auto of_f = remembered(layer.f, x2);
    added(x1, recalled(layer.f, x2, of_f));
    auto of_g = remembered(layer.g, x1);
    added(x2, recalled(layer.g, x1, of_g));
    memories.push_back({std::move(of_f), std::move(of_g)});
  }
  return memories;
}

inline void check_streams(Index rows1, Index cols1, Index rows2, Index cols2) {
  expect_equal("reversible: rows of x2", rows2, rows1, "both streams have one shape");
  expect_equal("reversible: columns of x2", cols2, cols1, "both streams have one shape");
}

}  // namespace detail

/// Reversible residual layers: two streams, of which each layer can be undone, so that a tape keeps the last
/// ones only.
///
///     y1 = x1 + f(x2),   y2 = x2 + g(y1)            layer by layer
///     x2 = y2 - g(y1),   x1 = y1 - f(x2)            how backward finds what was not kept
///
/// layers: any range of things with members f and g (layer::ReversiblePair). On a tape, a named range must
/// outlive it, and a temporary is kept. x1, x2 [n, m] -> [n, 2 m], y1 beside y2. On a tape all layers are one
/// node: its memory does not grow with their number, and backward computes f and g once more. Whatever is
/// random in them must be a function of seeds and places, so that it is drawn again alike; dropout here is.
/// Undoing rounds: the streams drift by some bits a layer, in float 1e-4 after about 48. Throws ShapeError
/// when the streams differ in shape, or f or g changes it. Papers: Gomez et al., "The Reversible Residual
/// Network", 2017, section 3.2; Kitaev et al., "Reformer: The Efficient Transformer", 2020, section 3.
template <class Layers, RealMatrix X1, RealMatrix X2>
requires SameScalar<X1, X2> Matrix<scalar_of<X1>> reversible(const Layers& layers, const X1& x1,
                                                             const X2& x2) {
  using Scalar = scalar_of<X1>;
  detail::check_streams(x1.rows(), x1.cols(), x2.rows(), x2.cols());
  Matrix<Scalar> y1 = x1, y2 = x2;
  detail::run_reversible(layers, y1, y2);
  return concatenate_columns(y1, y2);
}

}  // namespace headwise
