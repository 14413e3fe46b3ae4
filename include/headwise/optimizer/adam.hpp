#pragma once

#include <headwise/core/lanes.hpp>
#include <headwise/core/math.hpp>
#include <headwise/optimizer/parameters.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace headwise::optimizer {

struct AdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;       ///< of the mean gradient
  double beta2 = 0.999;     ///< of the mean square
  double eps = 1e-8;        ///< added to the root of the mean square
  double weight_decay = 0;  ///< decoupled from the gradient: 0 is Adam, above 0 AdamW
  Rule rule = usual_treatment;
};

namespace detail {

/// sqrt(x) for x >= 0, to the last digit or two. std::sqrt may set errno, so no compiler vectorises it.
///
///     y ~ 1 / sqrt(x), from x with its exponent halved and some of Newton's steps y (3 - x y^2) / 2
///     sqrt(x) = x y + y (x - (x y)^2) / 2
template <class Scalar>
Scalar root(Scalar x) noexcept {
  if constexpr (math::LaneScalar<Scalar>) {
    constexpr bool narrow = sizeof(Scalar) == sizeof(std::uint32_t);
    using Bits = std::conditional_t<narrow, std::uint32_t, std::uint64_t>;
    constexpr Bits halved = narrow ? Bits(0x5f375a86) : Bits(0x5fe6eb50c7b537a9);
    constexpr int steps = narrow ? 3 : 4;
    Scalar y = std::bit_cast<Scalar>(Bits(halved - (std::bit_cast<Bits>(x) >> 1)));
    for (int i = 0; i < steps; ++i) y *= Scalar(1.5) - (Scalar(0.5) * x * y) * y;
    const Scalar near = x * y;
    return math::select(x < math::infinity<Scalar>, near + Scalar(0.5) * y * (x - near * near), x);
  } else {
    return std::sqrt(x);
  }
}

}  // namespace detail

/// Adam, and with weight decay AdamW.
///
///     m <- beta1 m + (1 - beta1) g,   v <- beta2 v + (1 - beta2) g^2
///     w <- w (1 - rate weight_decay) - rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
///
/// Cost: one pass over parameters and gradients; two more numbers for each parameter.
/// Papers: Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2014, algorithm 1; Loshchilov and
/// Hutter, "Decoupled Weight Decay Regularization", 2017, algorithm 2.
template <class Scalar_ = float>
class Adam {
 public:
  using Scalar = Scalar_;

  /// Throws ShapeError for a setting out of its range.
  template <class Model>
  explicit Adam(const Model& model, const AdamOptions& options = {})
      : options_(options),
        parameters_("Adam", model, options.rule),
        mean_(parameters_.zeros()),
        square_(parameters_.zeros()) {
    expect_amount("Adam: learning_rate", options.learning_rate);
    expect_share("Adam: beta1", options.beta1);
    expect_share("Adam: beta2", options.beta2);
    expect_amount("Adam: eps", options.eps);
    expect_amount("Adam: weight_decay", options.weight_decay);
  }

  /// One step, with the learning rate of the options or of a schedule. Throws ShapeError, before anything has
  /// changed, when the model has parameters of other names or shapes, or one met no variable.
  template <class Model>
  void step(Model& model, const autograd::Gradients<Scalar>& gradients) {
    step(model, gradients, options_.learning_rate);
  }
  template <class Model>
  void step(Model& model, const autograd::Gradients<Scalar>& gradients, double learning_rate) {
    expect_amount("Adam: learning_rate", learning_rate);
    const double t = double(steps_.value(0, 0)) + 1;
    const double mean_scale = 1 / (1 - std::pow(options_.beta1, t));
    const double square_scale = 1 / (1 - std::pow(options_.beta2, t));
    parameters_.step(
        model, gradients,
        [&](std::size_t n, Matrix<Scalar>& weights, const Matrix<Scalar>& gradient, Treatment treatment) {
          const double rate = learning_rate * treatment.rate;
          update(weights, gradient, mean_[n].value, square_[n].value,
                 {.kept = Scalar(1 - rate * options_.weight_decay * treatment.decay),
                  .rate = Scalar(rate * mean_scale),
                  .square_scale = Scalar(square_scale)});
        });
    steps_.value(0, 0) = Scalar(t);
  }

  /// projection(name, value) is called after each step, for every parameter that moved.
  void project_with(typename Parameters<Scalar>::Projection projection) {
    parameters_.project_with(std::move(projection));
  }

  /// Visits steps [1, 1], and mean.<name> and square.<name> for each parameter: what a file must hold to go
  /// on later.
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

  const AdamOptions& options() const noexcept { return options_; }

 private:
  /// What one step does to a weight w: w kept - rate m / (sqrt(square_scale v) + eps).
  struct Factors {
    Scalar kept, rate, square_scale;
  };

  void update(Matrix<Scalar>& weights, const Matrix<Scalar>& gradient, Matrix<Scalar>& mean,
              Matrix<Scalar>& square, Factors factors) const {
    const Scalar beta1 = Scalar(options_.beta1), beta2 = Scalar(options_.beta2), eps = Scalar(options_.eps);
    const Scalar rest1 = Scalar(1 - options_.beta1), rest2 = Scalar(1 - options_.beta2);
    update_lanes(
        weights.size(),
        [=](Scalar& w, Scalar& m, Scalar& v, Scalar g) {
          m = beta1 * m + rest1 * g;
          v = beta2 * v + rest2 * g * g;
          w = factors.kept * w - factors.rate * m / (detail::root(factors.square_scale * v) + eps);
        },
        weights.data(), mean.data(), square.data(), gradient.data());
  }

  static void visit_all(auto& self, auto&& visit) {
    visit(std::string_view("steps"), self.steps_);
    self.parameters_.visit_memory("mean", self.mean_, visit);
    self.parameters_.visit_memory("square", self.square_, visit);
  }

  AdamOptions options_;
  Parameters<Scalar> parameters_;
  Parameter<Scalar> steps_{Matrix<Scalar>::Zero(1, 1)};  ///< a float counts exactly to 2^24
  std::vector<Parameter<Scalar>> mean_, square_;
};

}  // namespace headwise::optimizer
