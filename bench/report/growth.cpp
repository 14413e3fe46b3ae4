#include "report/growth.hpp"

namespace headwise::report {

std::vector<Index> lengths_up_to(Index longest) {
  std::vector<Index> lengths;
  for (Index length = 256; length <= longest; length *= 2) {
    lengths.push_back(length);
    if (length + length / 2 <= longest) lengths.push_back(length + length / 2);
  }
  return lengths;
}

void fit(Curve& curve) {
  std::vector<double> length, seconds, fastest, pair_count;
  for (const Sample& sample : curve.samples) {
    if (sample.seq_len < fitted_from || !(sample.timing.fastest > 0)) continue;
    length.push_back(double(sample.seq_len));
    seconds.push_back(sample.timing.seconds);
    fastest.push_back(sample.timing.fastest);
    pair_count.push_back(double(pairs(curve.pattern, sample.seq_len)));
  }
  if (length.size() < 3) return;
  curve.time_law = fit_power_law(length, seconds);
  curve.fastest_law = fit_power_law(length, fastest);
  curve.work_law = fit_power_law(length, pair_count);
}

}  // namespace headwise::report
