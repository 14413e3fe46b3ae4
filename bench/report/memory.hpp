#pragma once

#include "report/progress.hpp"
#include "report/results.hpp"

#include <vector>

namespace headwise::report {

/// Peak memory of single calls beyond what was there before them, forward and backward, each in a process of
/// its own so that nothing left over from another call is counted or reused. Includes the results themselves.
/// Empty where the system does not tell (it is read from /proc).
std::vector<MemoryUse> measure_memory(Index longest, Progress& progress);

}  // namespace headwise::report
