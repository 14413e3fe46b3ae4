#pragma once

#include "report/results.hpp"

#include <vector>

namespace headwise::report {

/// 256, 384, 512, 768, ..., longest: two lengths an octave, so that a fit has points enough.
std::vector<Index> lengths_up_to(Index longest);

/// Fits power laws to the median and the fastest times of a curve, and to its exact numbers of pairs, over
/// the lengths from `fitted_from` on. Leaves all out when there are fewer than three: two points are no
/// evidence of a law.
void fit(Curve& curve);

}  // namespace headwise::report
