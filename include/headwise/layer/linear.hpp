#pragma once

#include <headwise/core/error.hpp>
#include <headwise/layer/initial.hpp>
#include <headwise/layer/weight.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <utility>

namespace headwise::layer {

struct LinearOptions {
  Index in = 0;      ///< columns of the input
  Index out = 0;     ///< columns of the output
  bool bias = true;  ///< a learned row added to every output row
};

/// Linear: one product with a learned weight.
///
///     x W^T + b        W: [out, in], b: [1, out]
///
/// The weight is a learned Parameter, or a stored::Weight that is multiplied as a file has it. Cost: 2 in out
/// FLOPs a row.
template <class Scalar_ = float, class Weight_ = Parameter<Scalar_>>
requires Factor<Weight_, Scalar_>
class Linear {
 public:
  using Scalar = Scalar_;
  using Weight = Weight_;

  /// Throws ShapeError when in or out is not positive.
  Linear(const LinearOptions& options, const Initial& initial) : options_(options) {
    expect_positive("Linear: in", options.in);
    expect_positive("Linear: out", options.out);
    weight_ = detail::new_weight<Weight>(initial, options.out, options.in);
    if (options.bias) bias_ = Initial::constant<Scalar>(1, options.out, 0);
  }

  /// x [n, in] -> [n, out], the same bits for any executor. Throws ShapeError when x is not `in` wide.
  auto operator()(const Sequence auto& x, const Executor& executor = {}) const {
    expect_equal("Linear: columns of x", x.cols(), options_.in);
    return options_.bias ? on_threads::affine(executor, x, weight_, bias_)
                         : on_threads::multiply_transposed(executor, x, weight_);
  }

  /// {a(x), b(x), ...} for layers that read the same x: in one round of the threads for weights that have
  /// such a product, as stored ones do, which is worth it where each is short.
  template <Sequence X, std::same_as<Linear>... Layers>
  static auto each(const X& x, const Executor& executor, const Layers&... layers) {
    if constexpr (requires { multiply_transposed_each(x, executor, layers.weight_...); }) {
      (expect_equal("Linear: columns of x", x.cols(), layers.options_.in), ...);
      auto results = multiply_transposed_each(x, executor, layers.weight_...);
      std::size_t i = 0;
      (layers.shift(results[i++], executor), ...);
      return results;
    } else {
      return std::array{layers(x, executor)...};
    }
  }

  /// Visits weight [out, in] and, if there is one, bias [1, out].
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

  const LinearOptions& options() const noexcept { return options_; }
  const Matrix<Scalar>& weight() const noexcept { return weight_.value; }
  const Matrix<Scalar>& bias() const noexcept { return bias_.value; }

 private:
  void shift(Matrix<Scalar>& product, const Executor& executor) const {
    if (options_.bias) product = add(std::move(product), bias_, executor);
  }

  static void visit_all(auto& self, auto&& visit) {
    visit("weight", self.weight_);
    if (self.options_.bias) visit("bias", self.bias_);
  }

  LinearOptions options_;
  Weight weight_;
  Parameter<Scalar> bias_;
};

}  // namespace headwise::layer
