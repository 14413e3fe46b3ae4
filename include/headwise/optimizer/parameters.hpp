#pragma once

#include <headwise/autograd/gradients.hpp>
#include <headwise/core/error.hpp>
#include <headwise/core/parameter.hpp>
#include <headwise/optimizer/rule.hpp>

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headwise::optimizer {

/// Throws ShapeError unless the setting is a number of 0 or more. A negative learning rate climbs, and a NaN
/// ends every run.
inline void expect_amount(std::string_view what, double got) {
  if (got >= 0 && got <= std::numeric_limits<double>::max()) return;
  fail_shape(what, std::to_string(got), "a finite number, 0 or more");
}

/// Throws ShapeError unless the setting is the share of what came before in a moving mean.
inline void expect_share(std::string_view what, double got) {
  if (got >= 0 && got < 1) return;
  fail_shape(what, std::to_string(got), "at least 0 and below 1");
}

/// The parameters of the model that an optimizer was made for: what every optimizer's step has in common.
template <class Scalar>
class Parameters {
 public:
  /// Called after each step with every parameter that moved, to put it back where it is allowed to be.
  using Projection = std::function<void(std::string_view name, Matrix<Scalar>& value)>;

  template <class Model>
  Parameters(std::string optimizer, const Model& model, const Rule& rule) : optimizer_(std::move(optimizer)) {
    model.for_each_parameter([&](std::string_view name, const Parameter<Scalar>& parameter) {
      const Index rows = parameter.rows(), cols = parameter.cols();
      known_.push_back({std::string(name), rows, cols, rule(name, rows, cols)});
    });
  }

  /// One matrix of zeros for each parameter: the memory of an optimizer.
  std::vector<Parameter<Scalar>> zeros() const {
    std::vector<Parameter<Scalar>> result;
    for (const Known& each : known_) result.push_back({Matrix<Scalar>::Zero(each.rows, each.cols)});
    return result;
  }

  void project_with(Projection projection) { projection_ = std::move(projection); }

  /// Calls update(n, value, gradient, treatment) for parameter n, unless it is frozen. Throws ShapeError,
  /// before anything has changed, when the model is another one or a gradient is missing.
  template <class Model, class Update>
  void step(Model& model, const autograd::Gradients<Scalar>& gradients, Update&& update) const {
    check(model, gradients);
    std::size_t n = 0;
    model.for_each_parameter([&](std::string_view name, Parameter<Scalar>& parameter) {
      const Known& known = known_[n];
      if (known.treatment.rate != 0) {
        update(n, parameter.value, gradients.of(parameter), known.treatment);
        if (projection_) projection_(name, parameter.value);
      }
      ++n;
    });
  }

  /// Calls visit("<prefix>.<name>", memory[n]) for each parameter's memory.
  void visit_memory(std::string_view prefix, auto& memory, auto&& visit) const {
    for (std::size_t n = 0; n < memory.size(); ++n)
      visit(std::string_view(std::string(prefix) + "." + known_[n].name), memory[n]);
  }

 private:
  struct Known {
    std::string name;
    Index rows, cols;
    Treatment treatment;
  };

  template <class Model>
  void check(const Model& model, const autograd::Gradients<Scalar>& gradients) const {
    std::size_t n = 0;
    model.for_each_parameter([&](std::string_view name, const Parameter<Scalar>& parameter) {
      if (n >= known_.size() || known_[n].name != name || known_[n].rows != parameter.rows() ||
          known_[n].cols != parameter.cols()) {
        fail_shape(optimizer_ + ": parameter " + std::to_string(n),
                   std::string(name) + " [" + std::to_string(parameter.rows()) + ", " +
                       std::to_string(parameter.cols()) + "]",
                   n < known_.size() ? known_[n].name + " [" + std::to_string(known_[n].rows) + ", " +
                                           std::to_string(known_[n].cols) + "]"
                                     : "no more than " + std::to_string(n),
                   "an optimizer serves the model that it was made for");
      }
      if (known_[n++].treatment.rate == 0) return;
      const Matrix<Scalar>& gradient = gradients.of(parameter, name);
      expect_equal(optimizer_ + ": rows of the gradient of " + std::string(name), gradient.rows(),
                   parameter.rows());
      expect_equal(optimizer_ + ": columns of the gradient of " + std::string(name), gradient.cols(),
                   parameter.cols());
    });
    expect_equal(optimizer_ + ": parameters", Index(n), Index(known_.size()),
                 "an optimizer serves the model that it was made for");
  }

  std::string optimizer_;
  std::vector<Known> known_;
  Projection projection_;
};

}  // namespace headwise::optimizer
