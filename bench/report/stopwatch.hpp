#pragma once

#include <algorithm>
#include <ctime>
#include <vector>

namespace headwise::report {

/// Processor time of this program in seconds. The timed calls are serial, and unlike the time on the wall it
/// does not count what other programs on the machine take.
inline double processor_seconds() { return double(std::clock()) / double(CLOCKS_PER_SEC); }

/// What repeated runs of one call took.
struct Timing {
  double seconds = 0;  ///< median of the runs that count
  double fastest = 0;
  int runs = 0;
};

/// Throws nothing; at least one run is needed.
inline Timing summarise(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const std::size_t n = seconds.size(), middle = n / 2;
  const double median = n % 2 == 1 ? seconds[middle] : 0.5 * (seconds[middle - 1] + seconds[middle]);
  return {median, seconds.front(), int(n)};
}

/// Runs `call` again and again for about `budget` seconds, at most `most_runs` times, and returns what each
/// took. The first run warms caches and scratch memory up; it counts only when it is long enough for that not
/// to matter, which is when no more than three would fit into the budget.
template <class Call>
std::vector<double> repeat(Call&& call, double budget, int most_runs) {
  const auto timed = [&call] {
    const double start = processor_seconds();
    call();
    return processor_seconds() - start;
  };
  std::vector<double> seconds{timed()};
  double spent = seconds.front();
  const bool warm_up = spent * 3 < budget;
  if (warm_up) seconds.clear();
  while (seconds.empty() || (int(seconds.size()) < most_runs && spent < budget)) {
    seconds.push_back(timed());
    spent += seconds.back();
  }
  return seconds;
}

}  // namespace headwise::report
