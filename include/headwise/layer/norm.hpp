#pragma once

#include <headwise/layer/layer_norm.hpp>
#include <headwise/layer/rms_norm.hpp>

#include <variant>

namespace headwise::layer {

enum class NormKind {
  layer,  ///< LayerNorm: mean and variance
  rms     ///< RMSNorm: mean square only
};

struct NormOptions {
  NormKind kind = NormKind::layer;
  Index width = 0;
  double eps = 1e-5;
  bool bias = true;  ///< of LayerNorm; RMSNorm has none
};

/// The norm that a model's options name: models of one shape differ in it, and choose at run time.
template <class Scalar_ = float>
class Norm {
 public:
  using Scalar = Scalar_;

  /// Throws ShapeError when width is not positive.
  explicit Norm(const NormOptions& options) : norm_(made(options)) {}

  /// x [n, width] -> [n, width], the same bits for any executor. Throws ShapeError when x is not `width`
  /// wide.
  auto operator()(const Sequence auto& x, const Executor& executor = {}) const {
    return std::visit([&](const auto& norm) { return norm(x, executor); }, norm_);
  }

  /// Visits weight [1, width] and, for a LayerNorm that has one, bias [1, width].
  void for_each_parameter(auto&& visit) {
    std::visit([&](auto& norm) { norm.for_each_parameter(visit); }, norm_);
  }
  void for_each_parameter(auto&& visit) const {
    std::visit([&](const auto& norm) { norm.for_each_parameter(visit); }, norm_);
  }

 private:
  using Either = std::variant<LayerNorm<Scalar>, RmsNorm<Scalar>>;

  static Either made(const NormOptions& options) {
    if (options.kind == NormKind::rms) return RmsNorm<Scalar>({.width = options.width, .eps = options.eps});
    return LayerNorm<Scalar>({.width = options.width, .eps = options.eps, .bias = options.bias});
  }

  Either norm_;
};

}  // namespace headwise::layer
