#include "report/charts.hpp"
#include "report/numbers.hpp"
#include "report/sparse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace headwise::report {

namespace {

/// Full attention keeps the colour that it has in the other charts.
int colour_in_its_chart(SparsePattern pattern) {
  switch (pattern) {
    case SparsePattern::dense:
      return 0;
    case SparsePattern::causal:
    case SparsePattern::lsh:
      return 1;
    case SparsePattern::strided:
    case SparsePattern::blockwise:
      return 2;
    case SparsePattern::fixed:
    case SparsePattern::longformer:
      return 3;
    case SparsePattern::routing:
    case SparsePattern::big_bird:
      return 4;
  }
  return 5;
}

/// The least and the largest of some numbers of all series.
std::pair<double, double> ends(const std::vector<Series>& series, std::vector<double> Series::*numbers) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const Series& each : series) {
    for (const double number : each.*numbers) {
      least = std::min(least, number);
      most = std::max(most, number);
    }
  }
  return {least, most};
}

/// Lengths in factors of two, and times in factors of ten.
void set_axes(Chart& chart) {
  const auto [shortest, longest] = ends(chart.series, &Series::x);
  chart.x = {"tokens L", true, {}, shortest / 1.15, longest * 1.15};
  for (double length = shortest; length <= longest; length *= 2)
    chart.x.ticks.emplace_back(length, grouped(Index(length)));
  const auto [least, most] = ends(chart.series, &Series::y);
  chart.y = {"time of one call, one head", true, {}, least / 1.5, most * 1.5};
  for (double decade = std::pow(10.0, std::floor(std::log10(least))); decade <= most * 1.5; decade *= 10)
    if (decade >= least / 1.5) chart.y.ticks.emplace_back(decade, scaled(decade, "s", 1));
}

/// From a little below the least number to a little above the largest.
Axis nats(const std::vector<Series>& series) {
  const auto [least, most] = ends(series, &Series::y);
  const double margin = 0.06 * (most - least) + 0.01;
  return {"nats a character", false, {}, least - margin, most + margin};
}

}  // namespace

Chart sparse_chart(const Results& results, SparsePattern full) {
  Chart chart;
  chart.description = "Time of one call of " + std::string(name_of(full)) +
                      " attention and of sparse patterns in its place against the number of tokens, "
                      "logarithmic on both axes";
  for (const SparseCurve& curve : results.sparse) {
    if (full_attention_of(curve.pattern) != full || curve.samples.empty()) continue;
    std::string name(name_of(curve.pattern));
    if (curve.time_law) name += ", exponent " + fixed(curve.time_law->exponent, 2);
    chart.description += "; " + name;
    Series series{name, colour_in_its_chart(curve.pattern), Stroke::line_and_points, {}, {}};
    for (const Sample& sample : curve.samples) {
      series.x.push_back(double(sample.seq_len));
      series.y.push_back(sample.timing.seconds);
    }
    chart.series.push_back(std::move(series));
  }
  if (!chart.series.empty()) set_axes(chart);
  return chart;
}

Chart loss_chart(const LossCurve& curve) {
  Chart chart;
  chart.description = "Loss of a model that learns the characters of " + curve.text +
                      " against the training step, on what it learns from and on what it has not seen";
  Series train{"learned from", 0, Stroke::line_and_points, {}, {}};
  Series validation{"not seen", 1, Stroke::line_and_points, {}, {}};
  for (const LossPoint& point : curve.points) {
    train.x.push_back(double(point.step));
    train.y.push_back(point.train);
    validation.x.push_back(double(point.step));
    validation.y.push_back(point.validation);
  }
  const double last = std::max(1.0, train.x.back());
  Series bound{std::to_string(curve.ngram) + "-gram model",
               5,
               Stroke::dashed,
               {0, last},
               {curve.ngram_entropy, curve.ngram_entropy}};
  chart.series = {std::move(train), std::move(validation), std::move(bound)};
  chart.x = {"training step", false, {}, 0.0, last};
  chart.y = nats(chart.series);
  return chart;
}

Chart extrapolation_chart(const Extrapolation& study) {
  Chart chart;
  chart.description =
      "Validation loss of ALiBi and of sinusoidal positions against the length of the window, "
      "trained on " +
      grouped(study.trained_on) + " characters";
  Series alibi{"ALiBi", 3, Stroke::line_and_points, {}, {}};
  Series sinusoidal{"sinusoidal", 4, Stroke::line_and_points, {}, {}};
  for (const WindowLoss& loss : study.losses) {
    const double window = double(loss.window);
    alibi.x.push_back(window);
    alibi.y.push_back(loss.alibi);
    sinusoidal.x.push_back(window);
    sinusoidal.y.push_back(loss.sinusoidal);
    chart.x.ticks.emplace_back(window, grouped(loss.window));
  }
  chart.series = {std::move(alibi), std::move(sinusoidal)};
  chart.x.label = "characters in a window";
  chart.x.logarithmic = true;
  chart.x.least = double(study.losses.front().window) / 1.15;
  chart.x.most = double(study.losses.back().window) * 1.15;
  chart.y = nats(chart.series);
  return chart;
}

}  // namespace headwise::report
