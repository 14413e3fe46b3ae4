#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headwise::report {

/// How a series is drawn. Colour alone never tells two series apart: the point shapes differ as well.
enum class Stroke { line, line_and_points, points, dashed };

struct Series {
  std::string name;  ///< in the legend; none when empty
  int colour = 0;    ///< a slot of the palette, 0 to 5: the same variant has the same slot in every chart
  Stroke stroke = Stroke::line;
  std::vector<double> x, y;
};

struct Axis {
  std::string label;  ///< with its unit
  bool logarithmic = false;
  std::vector<std::pair<double, std::string>> ticks{};  ///< gnuplot's own when empty
  std::optional<double> least{}, most{};                ///< gnuplot's own when not given
};

struct Chart {
  std::string description;  ///< what a reader who cannot see it should know
  Axis x, y;
  std::vector<Series> series;
};

/// True when a program named gnuplot answers.
bool gnuplot_is_installed();

/// The script that draws the chart: data inside, SVG on standard output.
std::string gnuplot_script(const Chart& chart);

/// Runs gnuplot. The SVG takes its colours from the palette of the page it is put into, and its ids begin
/// with `id`, so that several charts live on one page. Nothing when gnuplot is not installed. Throws
/// std::runtime_error when gnuplot fails.
std::optional<std::string> draw(const Chart& chart, const std::string& id);

}  // namespace headwise::report
