#pragma once

#include <headwise/autograd/gradients.hpp>

#include <algorithm>
#include <string>

namespace headwise::optimizer {

/// Scales all gradients together, so that their global norm is at most `limit`. Returns the norm before.
///
///     g <- g min(1, limit / (norm + 1e-6))
///
/// After micro-batches were added up, before the optimizer's step. Usual limits: 1, and 0.25 for the Decision
/// Transformer. Throws ShapeError when limit is not above 0.
/// Paper: Pascanu et al., "On the difficulty of training recurrent neural networks", 2012, algorithm 1.
template <class Scalar>
double clip_global_norm(autograd::Gradients<Scalar>& gradients, double limit) {
  if (!(limit > 0)) fail_shape("clip_global_norm: limit", std::to_string(limit), "a number above 0");
  const double norm = autograd::global_norm(gradients);
  const double factor = std::min(1.0, limit / (norm + 1e-6));
  if (factor < 1) gradients *= factor;
  return norm;
}

}  // namespace headwise::optimizer
