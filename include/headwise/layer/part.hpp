#pragma once

#include <string>
#include <string_view>

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

}  // namespace headwise::layer
