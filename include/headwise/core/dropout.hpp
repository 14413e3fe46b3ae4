#pragma once

#include <headwise/core/random.hpp>

#include <cstdint>

namespace headwise {

/// Attention dropout: each weight is zeroed with probability `rate`, the others are divided by 1 - rate.
/// The choice is a function of (seed, layer, head, query row, key row): the same in every run, thread and
/// recomputation.
struct Dropout {
  double rate = 0;
  std::uint64_t seed = 0;
  Index layer = 0;  ///< set by whoever stacks layers, so that layers drop different weights
};

/// A dropout bound to one head: the factor of one weight, 0 or 1 / (1 - rate).
template <class Scalar>
class DropoutFactor {
 public:
  DropoutFactor(const Dropout& dropout, Index head)
      : key_(philox_key(dropout.seed)),
        head_(std::uint32_t(head)),
        layer_(std::uint32_t(dropout.layer)),
        threshold_(std::uint64_t(dropout.rate * 0x1p32)),
        kept_(Scalar(1 / (1 - dropout.rate))) {}

  /// Rows of the caller's matrices, over all sequences.
  Scalar operator()(Index query_row, Index key_row) const noexcept {
    const auto words = philox({std::uint32_t(query_row), std::uint32_t(key_row), head_, layer_}, key_);
    return words[0] < threshold_ ? Scalar(0) : kept_;
  }

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint32_t head_, layer_;
  std::uint64_t threshold_;
  Scalar kept_;
};

}  // namespace headwise
