#pragma once

#include <headwise/core/lanes.hpp>
#include <headwise/optimizer/parameters.hpp>

namespace headwise::optimizer {

struct SgdOptions {
  double learning_rate = 1e-2;
  double momentum = 0;      ///< share of the last step's velocity that stays
  double weight_decay = 0;  ///< added to the gradient, times the weight
  Rule rule = usual_treatment;
};

/// Stochastic gradient descent with momentum.
///
///     v <- momentum v + g + weight_decay w,   w <- w - learning_rate v
///
/// Cost: one pass over parameters and gradients; one more number for each parameter.
/// Paper: Sutskever et al., "On the importance of initialization and momentum in deep learning", 2013,
/// equation 1, with the learning rate outside the velocity, as PyTorch has it.
template <class Scalar_ = float>
class Sgd {
 public:
  using Scalar = Scalar_;

  /// Throws ShapeError for a setting out of its range.
  template <class Model>
  explicit Sgd(const Model& model, const SgdOptions& options = {})
      : options_(options), parameters_("Sgd", model, options.rule), velocity_(parameters_.zeros()) {
    expect_amount("Sgd: learning_rate", options.learning_rate);
    expect_share("Sgd: momentum", options.momentum);
    expect_amount("Sgd: weight_decay", options.weight_decay);
  }

  /// One step, with the learning rate of the options or of a schedule. Throws ShapeError, before anything has
  /// changed, when the model has parameters of other names or shapes, or one met no variable.
  template <class Model>
  void step(Model& model, const autograd::Gradients<Scalar>& gradients) {
    step(model, gradients, options_.learning_rate);
  }
  template <class Model>
  void step(Model& model, const autograd::Gradients<Scalar>& gradients, double learning_rate) {
    expect_amount("Sgd: learning_rate", learning_rate);
    parameters_.step(
        model, gradients,
        [&](std::size_t n, Matrix<Scalar>& weights, const Matrix<Scalar>& gradient, Treatment treatment) {
          update(weights, gradient, velocity_[n].value, Scalar(learning_rate * treatment.rate),
                 Scalar(options_.weight_decay * treatment.decay));
        });
  }

  /// projection(name, value) is called after each step, for every parameter that moved.
  void project_with(typename Parameters<Scalar>::Projection projection) {
    parameters_.project_with(std::move(projection));
  }

  /// Visits velocity.<name> for each parameter: what a file must hold to go on later.
  void for_each_parameter(auto&& visit) { parameters_.visit_memory("velocity", velocity_, visit); }
  void for_each_parameter(auto&& visit) const { parameters_.visit_memory("velocity", velocity_, visit); }

  const SgdOptions& options() const noexcept { return options_; }

 private:
  void update(Matrix<Scalar>& weights, const Matrix<Scalar>& gradient, Matrix<Scalar>& velocity, Scalar rate,
              Scalar decay) const {
    const Scalar momentum = Scalar(options_.momentum);
    update_lanes(
        weights.size(),
        [=](Scalar& w, Scalar& v, Scalar g) {
          v = momentum * v + g + decay * w;
          w -= rate * v;
        },
        weights.data(), velocity.data(), gradient.data());
  }

  SgdOptions options_;
  Parameters<Scalar> parameters_;
  std::vector<Parameter<Scalar>> velocity_;
};

}  // namespace headwise::optimizer
