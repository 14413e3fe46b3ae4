#include "report/charts.hpp"

#include "report/numbers.hpp"
#include "report/tables.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace headwise::report {

namespace {

const char* name_of(Direction direction) { return direction == Direction::forward ? "forward" : "backward"; }

/// Lengths in factors of two, every second one named.
Axis length_axis(const Results& results, Direction direction) {
  Index longest = 512;
  for (const Curve& curve : results.curves)
    if (curve.direction == direction && !curve.samples.empty())
      longest = std::max(longest, curve.samples.back().seq_len);
  Axis axis{"tokens L", true, {}, 256 / 1.15, double(longest) * 1.15};
  bool named = true;
  for (Index length = 256; length <= longest; length *= 2, named = !named)
    axis.ticks.emplace_back(double(length), named ? grouped(length) : "");
  return axis;
}

Axis decades(const std::string& label, double least, double most) {
  Axis axis{label, true, {}, least / 1.5, most * 1.5};
  for (double decade = std::pow(10.0, std::floor(std::log10(least))); decade <= most * 1.5; decade *= 10) {
    if (decade >= least / 1.5) axis.ticks.emplace_back(decade, scaled(decade, "s", 1));
  }
  return axis;
}

template <class Value>
Series series_of(const Curve& curve, const std::string& name, Value&& value) {
  Series series{name, int(curve.pattern), Stroke::line_and_points, {}, {}};
  for (const Sample& sample : curve.samples) {
    series.x.push_back(double(sample.seq_len));
    series.y.push_back(value(sample));
  }
  return series;
}

}  // namespace

Chart time_chart(const Results& results, Direction direction) {
  Chart chart;
  chart.description = std::string("Time of one ") + name_of(direction) +
                      " call against the number of tokens, logarithmic on both axes";
  double least = 1e30, most = 0;
  for (const Pattern pattern : patterns) {
    const Curve* curve = find(results, pattern, direction);
    if (curve == nullptr || curve->samples.empty()) continue;
    std::string name(report::name_of(pattern));
    if (curve->time_law) name += ", exponent " + fixed(curve->time_law->exponent, 2);
    chart.series.push_back(
        series_of(*curve, name, [](const Sample& sample) { return sample.timing.seconds; }));
    chart.description += "; " + name;
    for (double seconds : chart.series.back().y) {
      least = std::min(least, seconds);
      most = std::max(most, seconds);
    }
  }
  if (chart.series.empty()) return chart;
  chart.x = length_axis(results, direction);
  chart.y = decades(std::string("time of one ") + name_of(direction) + " call", least, most);
  return chart;
}

Chart throughput_chart(const Results& results, Direction direction) {
  Chart chart;
  chart.description =
      std::string("GFLOP/s of ") + name_of(direction) +
      " attention against the number of tokens, with the measured peak of one core as a dashed line";
  for (const Pattern pattern : patterns) {
    const Curve* curve = find(results, pattern, direction);
    if (curve == nullptr || curve->samples.empty()) continue;
    chart.series.push_back(series_of(*curve, std::string(report::name_of(pattern)), [](const Sample& sample) {
      return sample.flops / sample.timing.seconds / 1e9;
    }));
  }
  if (chart.series.empty()) return chart;
  chart.x = length_axis(results, direction);
  const double peak = results.ceilings.flops_per_second / 1e9;
  chart.series.push_back({"measured peak", 5, Stroke::dashed, {*chart.x.least, *chart.x.most}, {peak, peak}});
  chart.y = {"GFLOP/s, " + std::string(name_of(direction)), false, {}, 0.0, peak * 1.1};
  return chart;
}

}  // namespace headwise::report
