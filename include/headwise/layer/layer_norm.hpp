#pragma once

#include <headwise/core/error.hpp>
#include <headwise/layer/initial.hpp>
#include <headwise/layer/on_threads.hpp>

namespace headwise::layer {

struct LayerNormOptions {
  Index width = 0;    ///< columns of the input
  double eps = 1e-5;  ///< added to the variance
  bool bias = true;   ///< a learned shift after the gain
};

/// LayerNorm: each row to mean 0 and variance 1, then a learned gain and shift.
///
///     gain (x - mean(x)) / sqrt(var(x) + eps) + bias        gain, bias: [1, width]
///
/// Paper: Ba et al., "Layer Normalization", 2016, equation 4.
template <class Scalar_ = float>
class LayerNorm {
 public:
  using Scalar = Scalar_;

  /// Gain 1 and bias 0. Throws ShapeError when width is not positive.
  explicit LayerNorm(const LayerNormOptions& options) : options_(options) {
    expect_positive("LayerNorm: width", options.width);
    weight_ = Initial::constant<Scalar>(1, options.width, 1);
    if (options.bias) bias_ = Initial::constant<Scalar>(1, options.width, 0);
  }

  /// x [n, width] -> [n, width], the same bits for any executor. Throws ShapeError when x is not `width`
  /// wide.
  auto operator()(const Sequence auto& x, const Executor& executor = {}) const {
    expect_equal("LayerNorm: columns of x", x.cols(), options_.width);
    return options_.bias ? on_threads::layer_norm(executor, x, weight_, bias_, options_.eps)
                         : on_threads::layer_norm(executor, x, weight_, options_.eps);
  }

  /// Visits weight [1, width], the gain, and, if there is one, bias [1, width].
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

  const LayerNormOptions& options() const noexcept { return options_; }

 private:
  static void visit_all(auto& self, auto&& visit) {
    visit("weight", self.weight_);
    if (self.options_.bias) visit("bias", self.bias_);
  }

  LayerNormOptions options_;
  Parameter<Scalar> weight_, bias_;
};

}  // namespace headwise::layer
