#pragma once

#include "report/progress.hpp"
#include "report/results.hpp"

#include <vector>

namespace headwise::report {

/// One new token of 32 query heads of 128 numbers over caches of several lengths, with 32 key-value heads and
/// with 8.
std::vector<DecodeSample> measure_decoding(Index longest_cache, double budget, Progress& progress);

}  // namespace headwise::report
