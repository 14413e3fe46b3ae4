#pragma once

#include "report/chart.hpp"
#include "report/results.hpp"

namespace headwise::report {

/// Time against length, both logarithmic: a power law is a straight line and its exponent the slope.
Chart time_chart(const Results& results, Direction direction);

/// FLOPs a second against length, under the measured peak.
Chart throughput_chart(const Results& results, Direction direction);

/// Time against length of the sparse patterns that stand in for one full attention, and of that.
Chart sparse_chart(const Results& results, SparsePattern full);

/// Losses against the training step, and the loss to beat.
Chart loss_chart(const LossCurve& curve);

/// Losses against the length of the window that is read.
Chart extrapolation_chart(const Extrapolation& study);

}  // namespace headwise::report
