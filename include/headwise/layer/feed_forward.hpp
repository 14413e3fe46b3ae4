#pragma once

#include <headwise/layer/activation.hpp>
#include <headwise/layer/linear.hpp>
#include <headwise/layer/part.hpp>

#include <optional>
#include <utility>

namespace headwise::layer {

struct FeedForwardOptions {
  Index d_model = 0;  ///< columns of input and output
  Index d_ff = 0;     ///< columns in between; usually 4 d_model, about 8/3 d_model with a gate
  Activation activation = Activation::relu;
  bool gated = false;  ///< SwiGLU with silu, GeGLU with gelu
  bool bias = true;
};

/// The position-wise feed-forward layer, plain or gated.
///
///     act(x U^T + a) D^T + b                          U, G: [d_ff, d_model], D: [d_model, d_ff]
///     (act(x G^T + c) o (x U^T + a)) D^T + b          gated
///
/// Cost: 4 d_model d_ff FLOPs a row, 6 with a gate.
/// Paper: Vaswani et al., "Attention Is All You Need", 2017, equation 2; Shazeer, "GLU Variants Improve
/// Transformer", 2020, equation 6.
template <class Scalar_ = float, class Weight_ = Parameter<Scalar_>>
class FeedForward {
 public:
  using Scalar = Scalar_;
  using Weight = Weight_;

  /// Throws ShapeError when d_model or d_ff is not positive.
  FeedForward(const FeedForwardOptions& options, const Initial& initial)
      : options_(checked(options)),
        up_({.in = options.d_model, .out = options.d_ff, .bias = options.bias}, initial),
        down_({.in = options.d_ff, .out = options.d_model, .bias = options.bias}, initial) {
    if (options.gated) gate_.emplace(up_.options(), initial);
  }

  /// x [n, d_model] -> [n, d_model], the same bits for any executor. Throws ShapeError when x is not d_model
  /// wide.
  auto operator()(const Sequence auto& x, const Executor& executor = {}) const {
    if (!gate_) return down_(activated(options_.activation, up_(x, executor), executor), executor);
    auto [gate, up] = Linear<Scalar, Weight>::each(x, executor, *gate_, up_);
    return down_(gated(options_.activation, std::move(gate), up, executor), executor);
  }

  /// Visits up.*, gate.* if gated, down.*.
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

  const FeedForwardOptions& options() const noexcept { return options_; }

 private:
  static const FeedForwardOptions& checked(const FeedForwardOptions& options) {
    expect_positive("FeedForward: d_model", options.d_model);
    expect_positive("FeedForward: d_ff", options.d_ff);
    return options;
  }

  static void visit_all(auto& self, auto&& visit) {
    visit_part("up", self.up_, visit);
    if (self.gate_) visit_part("gate", *self.gate_, visit);
    visit_part("down", self.down_, visit);
  }

  FeedForwardOptions options_;
  Linear<Scalar, Weight> up_, down_;
  std::optional<Linear<Scalar, Weight>> gate_;
};

}  // namespace headwise::layer
