#pragma once

#include "report/chart.hpp"
#include "report/results.hpp"

namespace headwise::report {

/// Time against length, both logarithmic: a power law is a straight line and its exponent the slope.
Chart time_chart(const Results& results, Direction direction);

/// FLOPs a second against length, under the measured peak.
Chart throughput_chart(const Results& results, Direction direction);

}  // namespace headwise::report
