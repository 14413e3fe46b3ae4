#pragma once

#include <headwise/core/parameter.hpp>

#include <string>
#include <string_view>
#include <type_traits>

namespace headwise::layer {

/// Calls visit(name, parameter) for each parameter of a part, its name prefixed: "output" and "weight" make
/// "output.weight". The name of a parameter in a model is the path to it.
void visit_part(std::string_view part_name, auto& part, auto&& visit) {
  part.for_each_parameter([&](std::string_view name, auto& parameter) {
    std::string path(part_name);
    path.append(".").append(name);
    visit(std::string_view(path), parameter);
  });
}

namespace detail {

template <class T>
inline constexpr bool is_parameter = false;
template <class Scalar>
inline constexpr bool is_parameter<Parameter<Scalar>> = true;

}  // namespace detail

/// Calls visit(name, parameter) for each parameter that a score policy holds, named "score.0", "score.1", ...
/// A policy without learned numbers has none; a matrix in its place is not learned.
template <class Score>
void visit_operands(std::string_view score_name, Score& score, auto&& visit) {
  if constexpr (requires { score.for_each_operand([](const auto&) {}); }) {
    std::size_t n = 0;
    score.for_each_operand([&](const auto& operand) {
      using Operand = std::remove_cvref_t<decltype(operand)>;
      std::string path(score_name);
      path.append(".").append(std::to_string(n++));
      if constexpr (!detail::is_parameter<Operand>) {
        return;
      } else if constexpr (std::is_const_v<Score>) {
        visit(std::string_view(path), operand);
      } else {
        // Recipes show their operands as const only. This one belongs to the caller, who may change it.
        visit(std::string_view(path), const_cast<Operand&>(operand));
      }
    });
  }
}

}  // namespace headwise::layer
