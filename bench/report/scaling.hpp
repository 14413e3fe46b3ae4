#pragma once

#include "report/progress.hpp"
#include "report/results.hpp"

#include <vector>

namespace headwise::report {

struct ScalingOptions {
  Index longest_forward = 16384, longest_backward = 4096;
  double budget = 1.5;       ///< seconds for the repeats of one call
  double longest_call = 30;  ///< a call that would take longer is left out, and said to be
  int most_runs = 9;
};

/// Times every pattern at every length. Throws std::logic_error when the library counts other pairs than the
/// closed form: a cost that is reported wrongly is worth no time.
std::vector<Curve> measure_scaling(const ScalingOptions& options, Progress& progress);

}  // namespace headwise::report
