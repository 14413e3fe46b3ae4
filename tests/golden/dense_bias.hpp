#pragma once

#include <headwise/score/dense_bias.hpp>

#include "golden/attention_case.hpp"

namespace headwise::golden {

/// A bias added to the scaled scores. Axes of size 1 stay shared, so that the gradient has the shape of the
/// tensor.
inline auto dense_bias(const Tensor& tensor) {
  const PairAxes axes(tensor);
  return score::dense_bias(as_rows(tensor), {.heads = axes.heads, .sequences = axes.batch});
}

}  // namespace headwise::golden
