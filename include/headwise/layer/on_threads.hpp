#pragma once

#include <headwise/core/executor.hpp>
#include <headwise/layer/ops.hpp>
#include <headwise/position/rotary.hpp>
#include <headwise/stored/product.hpp>

#include <utility>

namespace headwise::layer {

namespace detail {

/// Calls verb(operands..., executor); of a sequence whose verbs know nothing of threads, verb(operands...).
template <class Verb>
struct OnThreads {
  template <class... Operands>
  auto operator()(const Executor& executor, Operands&&... operands) const {
    if constexpr (requires { Verb::call(std::forward<Operands>(operands)..., executor); }) {
      return Verb::call(std::forward<Operands>(operands)..., executor);
    } else {
      return Verb::call(std::forward<Operands>(operands)...);
    }
  }
};

// Each verb as a type, for any operands that have it: found by argument-dependent lookup, as ops.hpp says.

struct Add {
  static auto call(auto&&... x) -> decltype(add(std::forward<decltype(x)>(x)...)) {
    return add(std::forward<decltype(x)>(x)...);
  }
};
struct MultiplyElementwise {
  static auto call(auto&&... x) -> decltype(multiply_elementwise(std::forward<decltype(x)>(x)...)) {
    return multiply_elementwise(std::forward<decltype(x)>(x)...);
  }
};
struct MultiplyTransposed {
  static auto call(auto&&... x) -> decltype(multiply_transposed(std::forward<decltype(x)>(x)...)) {
    return multiply_transposed(std::forward<decltype(x)>(x)...);
  }
};
struct Affine {
  static auto call(auto&&... x) -> decltype(affine(std::forward<decltype(x)>(x)...)) {
    return affine(std::forward<decltype(x)>(x)...);
  }
};
struct Relu {
  static auto call(auto&&... x) -> decltype(relu(std::forward<decltype(x)>(x)...)) {
    return relu(std::forward<decltype(x)>(x)...);
  }
};
struct Gelu {
  static auto call(auto&&... x) -> decltype(gelu(std::forward<decltype(x)>(x)...)) {
    return gelu(std::forward<decltype(x)>(x)...);
  }
};
struct GeluTanh {
  static auto call(auto&&... x) -> decltype(gelu_tanh(std::forward<decltype(x)>(x)...)) {
    return gelu_tanh(std::forward<decltype(x)>(x)...);
  }
};
struct Silu {
  static auto call(auto&&... x) -> decltype(silu(std::forward<decltype(x)>(x)...)) {
    return silu(std::forward<decltype(x)>(x)...);
  }
};
struct LayerNormed {
  static auto call(auto&&... x) -> decltype(layer_norm(std::forward<decltype(x)>(x)...)) {
    return layer_norm(std::forward<decltype(x)>(x)...);
  }
};
struct RmsNormed {
  static auto call(auto&&... x) -> decltype(rms_norm(std::forward<decltype(x)>(x)...)) {
    return rms_norm(std::forward<decltype(x)>(x)...);
  }
};
struct Rotate {
  static auto call(auto&&... x) -> decltype(rotate(std::forward<decltype(x)>(x)...)) {
    return rotate(std::forward<decltype(x)>(x)...);
  }
};

}  // namespace detail

/// The verbs that layers are written in, their executor first: on_threads::add(executor, x, y).
namespace on_threads {

inline constexpr detail::OnThreads<detail::Add> add{};
inline constexpr detail::OnThreads<detail::MultiplyElementwise> multiply_elementwise{};
inline constexpr detail::OnThreads<detail::MultiplyTransposed> multiply_transposed{};
inline constexpr detail::OnThreads<detail::Affine> affine{};
inline constexpr detail::OnThreads<detail::Relu> relu{};
inline constexpr detail::OnThreads<detail::Gelu> gelu{};
inline constexpr detail::OnThreads<detail::GeluTanh> gelu_tanh{};
inline constexpr detail::OnThreads<detail::Silu> silu{};
inline constexpr detail::OnThreads<detail::LayerNormed> layer_norm{};
inline constexpr detail::OnThreads<detail::RmsNormed> rms_norm{};
inline constexpr detail::OnThreads<detail::Rotate> rotate{};

}  // namespace on_threads

}  // namespace headwise::layer
