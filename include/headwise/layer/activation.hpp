#pragma once

#include <headwise/layer/ops.hpp>

#include <utility>

namespace headwise::layer {

/// The non-linearity of a feed-forward layer.
enum class Activation {
  relu,       ///< max(x, 0)
  gelu,       ///< x (1 + erf(x / sqrt 2)) / 2, exact
  gelu_tanh,  ///< the tanh approximation of GPT-2, BLOOM and T5 v1.1
  silu        ///< x sigmoid(x), of Llama
};

/// The verb that an option names. A temporary x gives its memory.   x [n, m] -> [n, m].
template <Sequence X>
auto activated(Activation activation, X&& x) {
  switch (activation) {
    case Activation::gelu:
      return gelu(std::forward<X>(x));
    case Activation::gelu_tanh:
      return gelu_tanh(std::forward<X>(x));
    case Activation::silu:
      return silu(std::forward<X>(x));
    case Activation::relu:
      break;
  }
  return relu(std::forward<X>(x));
}

}  // namespace headwise::layer
