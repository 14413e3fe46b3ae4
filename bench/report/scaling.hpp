#pragma once

#include "report/progress.hpp"
#include "report/results.hpp"

#include <vector>

namespace headwise::report {

struct ScalingOptions {
  Index longest_forward = 16384, longest_backward = 4096;
  int rounds = 3;  ///< through all lengths, so that a busy moment of the machine meets a third of the runs
  double budget = 0.5;       ///< seconds for the repeats of one call in one round
  int most_runs = 3;         ///< of one call in one round
  double once_above = 2.5;   ///< seconds; a call that takes longer is made in the first round only
  double longest_call = 30;  ///< seconds; a call that would take longer is left out, and said to be
};

/// Times every pattern at every length. Throws std::logic_error when the library counts other pairs than the
/// closed form: a cost that is reported wrongly is worth no time.
std::vector<Curve> measure_scaling(const ScalingOptions& options, Progress& progress);

}  // namespace headwise::report
