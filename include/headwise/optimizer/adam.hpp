#pragma once

#include <headwise/optimizer/parameters.hpp>

#include <cmath>
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

  template <class Model>
  explicit Adam(const Model& model, const AdamOptions& options = {})
      : options_(options),
        parameters_("Adam", model, options.rule),
        mean_(parameters_.zeros()),
        square_(parameters_.zeros()) {}

  /// One step, with the learning rate of the options or of a schedule. Throws ShapeError, before anything has
  /// changed, when the model is another one, or a parameter met no variable.
  template <class Model>
  void step(Model& model, const autograd::Gradients<Scalar>& gradients) {
    step(model, gradients, options_.learning_rate);
  }
  template <class Model>
  void step(Model& model, const autograd::Gradients<Scalar>& gradients, double learning_rate) {
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
    Scalar *w = weights.data(), *m = mean.data(), *v = square.data();
    const Scalar* g = gradient.data();
    const Scalar beta1 = Scalar(options_.beta1), beta2 = Scalar(options_.beta2), eps = Scalar(options_.eps);
    const Scalar rest1 = Scalar(1 - options_.beta1), rest2 = Scalar(1 - options_.beta2);
    detail::in_blocks(weights.size(), [=](Index i, auto lanes) {
      Scalar means[lanes], squares[lanes], moved[lanes];
      for (Index lane = 0; lane < lanes; ++lane) {
        const Scalar gradient_here = g[i + lane];
        means[lane] = beta1 * m[i + lane] + rest1 * gradient_here;
        squares[lane] = beta2 * v[i + lane] + rest2 * gradient_here * gradient_here;
        moved[lane] = factors.kept * w[i + lane] -
                      factors.rate * means[lane] / (std::sqrt(factors.square_scale * squares[lane]) + eps);
      }
      for (Index lane = 0; lane < lanes; ++lane) m[i + lane] = means[lane];
      for (Index lane = 0; lane < lanes; ++lane) v[i + lane] = squares[lane];
      for (Index lane = 0; lane < lanes; ++lane) w[i + lane] = moved[lane];
    });
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
