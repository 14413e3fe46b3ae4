#pragma once

#include <headwise/core/matrix.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

/// Learning rates as functions of the step t, which counts from 1: optimizer.step(model, gradients, rate(t)).
namespace headwise::optimizer {

/// Rises for `warm_up` steps, then falls with the root of the step.
///
///     factor d_model^-1/2 min(t^-1/2, t warm_up^-3/2)
///
/// Paper: Vaswani et al., "Attention Is All You Need", 2017, equation 3.
struct InverseSquareRoot {
  Index d_model = 512;
  Index warm_up = 4000;
  double factor = 1;

  double operator()(Index t) const {
    const double step = double(std::max<Index>(t, 1));
    return factor / std::sqrt(double(d_model)) *
           std::min(1 / std::sqrt(step), step / (double(warm_up) * std::sqrt(double(warm_up))));
  }
};

/// Rises evenly to `peak` in `warm_up` steps and stays.
///
///     peak min(1, t / warm_up)
struct WarmUp {
  double peak = 1e-3;
  Index warm_up = 0;

  double operator()(Index t) const {
    return warm_up > 0 ? peak * std::min(1.0, double(t) / double(warm_up)) : peak;
  }
};

/// Rises evenly to `peak`, then falls evenly to `floor * peak` at step `steps`, and stays there.
struct LinearDecay {
  double peak = 1e-3;
  Index warm_up = 0;
  Index steps = 1000;
  double floor = 0;  ///< share of the peak that is left at the end

  double operator()(Index t) const {
    if (t <= warm_up) return WarmUp{peak, warm_up}(t);
    const double done = std::min(1.0, double(t - warm_up) / double(std::max<Index>(steps - warm_up, 1)));
    return peak * (floor + (1 - floor) * (1 - done));
  }
};

/// Rises evenly to `peak`, then falls along half a cosine to `floor * peak` at step `steps`, and stays there.
///
///     peak (floor + (1 - floor) (1 + cos(pi done)) / 2)      done = (t - warm_up) / (steps - warm_up)
///
/// Paper: Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2016, equation 5,
/// without restarts; with floor 0.1 that of Chen et al., "Decision Transformer", 2021, for Atari.
struct Cosine {
  double peak = 1e-3;
  Index warm_up = 0;
  Index steps = 1000;
  double floor = 0;  ///< share of the peak that is left at the end

  double operator()(Index t) const {
    if (t <= warm_up) return WarmUp{peak, warm_up}(t);
    const double done = std::min(1.0, double(t - warm_up) / double(std::max<Index>(steps - warm_up, 1)));
    return peak * (floor + (1 - floor) * (1 + std::cos(std::numbers::pi * done)) / 2);
  }
};

}  // namespace headwise::optimizer
