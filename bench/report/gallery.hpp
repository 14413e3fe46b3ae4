#pragma once

#include "report/results.hpp"

#include <vector>

/// Pictures of the library's own policies, each drawn by asking the policy itself.
namespace headwise::report {

/// Every mask over 48 tokens.
std::vector<Picture> draw_masks();

/// Every pattern that is a call of its own, over 48 tokens.
std::vector<Picture> draw_calls();

/// Every score policy: what it adds or does, as curves. Empty when gnuplot is not installed.
std::vector<Picture> draw_scores();

/// Every position encoding as a table of numbers.
std::vector<Picture> draw_positions();

}  // namespace headwise::report
