#pragma once

#include <headwise/core/matrix.hpp>
#include <headwise/core/random.hpp>

#include <map>
#include <string>
#include <string_view>

/// What tests say about the learned numbers of layers and models.
namespace headwise::check {

/// Copies, by name.
template <class Model>
std::map<std::string, Matrix<double>> parameters_of(const Model& model) {
  std::map<std::string, Matrix<double>> result;
  model.for_each_parameter([&](std::string_view name, const auto& parameter) {
    result[std::string(name)] = parameter.value.template cast<double>();
  });
  return result;
}

/// Replaces every parameter, also gains and biases, which start as 1 and 0 and would hide mistakes.
template <class Model>
void randomise(Model& model, std::uint64_t seed) {
  Rng rng(seed);
  model.for_each_parameter([&](std::string_view, auto& parameter) {
    using Scalar = typename std::remove_cvref_t<decltype(parameter)>::Scalar;
    parameter.value = normal(parameter.rows(), parameter.cols(), Scalar(0.4), rng);
  });
}

}  // namespace headwise::check
