#pragma once

#include <headwise/core/matrix.hpp>

#include "report/results.hpp"

#include <vector>

/// Pictures of the library's own policies, each drawn by asking the policy itself.
namespace headwise::report {

/// How many tokens the pictures of masks and of calls show.
inline constexpr Index drawn_length = 48;

/// Every mask.
std::vector<Picture> draw_masks();

/// Every pattern that is a call of its own.
std::vector<Picture> draw_calls();

/// Every score policy: what it adds or does, as curves. Empty when gnuplot is not installed.
std::vector<Picture> draw_scores();

/// Every position encoding as a table of numbers.
std::vector<Picture> draw_positions();

}  // namespace headwise::report
