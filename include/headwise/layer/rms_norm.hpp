#pragma once

#include <headwise/core/error.hpp>
#include <headwise/layer/initial.hpp>
#include <headwise/layer/on_threads.hpp>

namespace headwise::layer {

struct RmsNormOptions {
  Index width = 0;    ///< columns of the input
  double eps = 1e-6;  ///< added to the mean square
};

/// RMSNorm: each row to mean square 1, then a learned gain; no mean, no shift.
///
///     gain x / sqrt(mean(x^2) + eps)        gain: [1, width]
///
/// Paper: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019, equation 4.
template <class Scalar_ = float>
class RmsNorm {
 public:
  using Scalar = Scalar_;

  /// Gain 1. Throws ShapeError when width is not positive.
  explicit RmsNorm(const RmsNormOptions& options) : options_(options) {
    expect_positive("RmsNorm: width", options.width);
    weight_ = Initial::constant<Scalar>(1, options.width, 1);
  }

  /// x [n, width] -> [n, width], the same bits for any executor. Throws ShapeError when x is not `width`
  /// wide.
  auto operator()(const Sequence auto& x, const Executor& executor = {}) const {
    expect_equal("RmsNorm: columns of x", x.cols(), options_.width);
    return on_threads::rms_norm(executor, x, weight_, options_.eps);
  }

  /// Visits weight [1, width], the gain.
  void for_each_parameter(auto&& visit) { visit("weight", weight_); }
  void for_each_parameter(auto&& visit) const { visit("weight", weight_); }

  const RmsNormOptions& options() const noexcept { return options_; }

 private:
  RmsNormOptions options_;
  Parameter<Scalar> weight_;
};

}  // namespace headwise::layer
