#pragma once

#include <headwise/core/matrix.hpp>

#include <functional>
#include <string_view>

namespace headwise::optimizer {

/// How one parameter is treated, relative to the optimizer's options.
struct Treatment {
  double rate = 1;   ///< factor of the learning rate; 0 freezes the parameter, which then needs no gradient
  double decay = 1;  ///< factor of the weight decay
};

/// Says how a parameter is treated, by its name and shape.
using Rule = std::function<Treatment(std::string_view name, Index rows, Index cols)>;

/// Decay for the weights of products only: not for biases, gains, gates, slopes, spans and sinks, which are
/// single rows or columns; not for tables, of embeddings, positions or scores.
inline Treatment usual_treatment(std::string_view name, Index rows, Index cols) {
  const bool product = rows > 1 && cols > 1 && name.ends_with("weight");
  const bool table = name.find("embedding") != name.npos || name.find("tokens") != name.npos ||
                     name.find("kinds") != name.npos || name.find("positions") != name.npos;
  return {.rate = 1, .decay = product && !table ? 1.0 : 0.0};
}

}  // namespace headwise::optimizer
