#pragma once

#include <headwise/core/matrix.hpp>

namespace headwise {

/// f(x...); on a tape, nothing inside f is kept, and backward computes it again.   f: matrices -> matrix
///
///     y = checkpoint([&](const auto& h) { return block(h, options, mask::Causal{}); }, x)
///
/// f is called with matrices, or with variables of a tape of its own: it reads all that learns from its
/// arguments and from parameters, never from a variable that it captured. Paper: Chen et al., "Training Deep
/// Nets with Sublinear Memory Cost", 2016, section 3.
template <class F, RealMatrix... X>
auto checkpoint(const F& f, const X&... x) {
  return f(x...);
}

}  // namespace headwise
