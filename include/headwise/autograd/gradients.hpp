#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/parameter.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headwise::autograd {

template <class Scalar>
class Var;

/// What backward returns: a gradient for each parameter that met a variable, and for each input of the tape.
///
/// Parameters are known by their address: a model does not move between forward and backward. A value without
/// ties to the tape: it may be added up over micro-batches, scaled, clipped, and handed to an optimizer.
template <class Scalar_>
class Gradients {
 public:
  using Scalar = Scalar_;

  /// True when the parameter met a variable.
  bool contains(const Parameter<Scalar>& parameter) const { return places_.contains(&parameter.value); }

  /// The gradient of a parameter, of its shape; zeros when it met a variable without a say in the loss.
  /// Throws ShapeError for a parameter that met no variable.
  const Matrix<Scalar>& of(const Parameter<Scalar>& parameter) const { return of(parameter, "a parameter"); }

  /// The same, with the name that an error shall give.
  const Matrix<Scalar>& of(const Parameter<Scalar>& parameter, std::string_view name) const {
    const auto place = places_.find(&parameter.value);
    if (place == places_.end()) {
      fail_shape("Gradients: " + std::string(name) + " [" + std::to_string(parameter.rows()) + ", " +
                     std::to_string(parameter.cols()) + "]",
                 "unknown to the tape", "a parameter that met a variable",
                 "begin the step with tape.input(x), and do not move or copy the model before its backward");
    }
    return entries_[place->second].gradient;
  }

  /// The gradient of an input. Throws ShapeError for a variable that tape.input did not return.
  const Matrix<Scalar>& of(const Var<Scalar>& input) const {
    const auto found = inputs_.find(input.node());
    if (found == inputs_.end()) {
      throw ShapeError(
          "Gradients: the variable is the result of a verb or a constant, expected one that tape.input "
          "returned");
    }
    return found->second;
  }

  /// How many parameters have a gradient.
  std::size_t size() const noexcept { return entries_.size(); }

  /// Calls visit(numbers of the parameter, its gradient) in the order of first meeting; the gradient may be
  /// changed.
  void for_each(auto&& visit) {
    for (Entry& entry : entries_) visit(*entry.parameter, entry.gradient);
  }
  void for_each(auto&& visit) const {
    for (const Entry& entry : entries_) visit(*entry.parameter, entry.gradient);
  }

  /// Adds another batch's gradients of the parameters; a parameter that only the other one knows joins. Those
  /// of inputs stay as they are: they belong to one batch.
  Gradients& operator+=(const Gradients& other) {
    for (const Entry& entry : other.entries_) {
      if (const auto place = places_.find(entry.parameter); place != places_.end()) {
        entries_[place->second].gradient += entry.gradient;
      } else {
        set(*entry.parameter, entry.gradient);
      }
    }
    return *this;
  }

  /// Multiplies the gradients of the parameters, say with one over the number of micro-batches.
  Gradients& operator*=(double factor) {
    for (Entry& entry : entries_) entry.gradient *= Scalar(factor);
    return *this;
  }

  /// Takes in the gradient of what stands at this address.
  void set(const Matrix<Scalar>& parameter, Matrix<Scalar> gradient) {
    places_.emplace(&parameter, entries_.size());
    entries_.push_back({&parameter, std::move(gradient)});
  }
  void set_input(std::size_t node, Matrix<Scalar> gradient) { inputs_.emplace(node, std::move(gradient)); }

 private:
  struct Entry {
    const Matrix<Scalar>* parameter;
    Matrix<Scalar> gradient;
  };

  std::vector<Entry> entries_;  ///< in the order of first meeting
  std::unordered_map<const Matrix<Scalar>*, std::size_t> places_;
  std::unordered_map<std::size_t, Matrix<Scalar>> inputs_;
};

/// The Euclidean norm of all parameters' gradients together, summed in double.
template <class Scalar>
double global_norm(const Gradients<Scalar>& gradients) {
  double sum = 0;
  gradients.for_each([&](const Matrix<Scalar>&, const Matrix<Scalar>& gradient) {
    for (Index i = 0; i < gradient.size(); ++i)
      sum += double(gradient.data()[i]) * double(gradient.data()[i]);
  });
  return std::sqrt(sum);
}

}  // namespace headwise::autograd
