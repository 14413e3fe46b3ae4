#include "report/drawing.hpp"

#include <headwise/core/error.hpp>

#include "report/markup.hpp"
#include "report/numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

namespace headwise::report {

namespace {

constexpr double side = 256;   // of the longer side of a picture, in user units
constexpr double margin = 26;  // for the words along the sides
constexpr int shades = 8;      // on either side of zero

/// A rectangle of cells as path commands, in units of cells.
std::string cells(Index row, Index col, Index rows, Index cols) {
  std::string path = "M";
  path.append(std::to_string(col)).append(" ").append(std::to_string(row));
  path.append("h").append(std::to_string(cols)).append("v").append(std::to_string(rows));
  path.append("h-").append(std::to_string(cols)).append("z");
  return path;
}

/// The middle line of some cells of a row, for a stroke as wide as the row.
std::string middle_line(Index row, Index col, Index cols) {
  std::string path = "M";
  path.append(std::to_string(col)).append(" ").append(std::to_string(row));
  path.append("h").append(std::to_string(cols));
  return path;
}

/// The frame around cells: words along the sides, sizes at the ends.
std::string frame(Index rows, Index cols, const TableSides& sides, const std::string& description,
                  const std::string& inside) {
  const double cell = side / double(std::max<Index>(1, std::max(rows, cols)));
  const double width = cell * double(cols), height = cell * double(rows);
  const auto number = [](double x) { return significant(x, 4); };
  std::string svg = "<svg viewBox=\"0 0 " + number(width + margin + 2) + " " + number(height + margin + 2) +
                    "\" role=\"img\" font-family=\"sans-serif\" font-size=\"13\" aria-label=\"" +
                    escape(description) + "\">" + element("title", "", escape(description));
  svg += element("text", "x=\"" + number(margin) + "\" y=\"17\" fill=\"var(--soft)\"",
                 escape(sides.columns + " →"));
  svg += element("text",
                 "x=\"-" + number(margin) +
                     "\" y=\"17\" text-anchor=\"end\" transform=\"rotate(-90)\" fill=\"var(--soft)\"",
                 escape("← " + sides.rows));
  svg += element("g",
                 "transform=\"translate(" + number(margin) + "," + number(margin) + ") scale(" +
                     number(cell) + ")\" shape-rendering=\"crispEdges\"",
                 inside);
  svg += element("rect",
                 "x=\"" + number(margin) + "\" y=\"" + number(margin) + "\" width=\"" + number(width) +
                     "\" height=\"" + number(height) + "\" fill=\"none\" stroke=\"var(--soft)\"",
                 "");
  return svg + "</svg>";
}

/// From zero to one end of the scale, in equal steps of colour.
std::string shade(int step) {
  constexpr std::array<double, 3> pale{245, 245, 243}, low{0, 84, 140}, high{184, 78, 0};
  const double share = std::abs(step) / double(shades);
  std::array<char, 16> text{};
  const auto& end = step < 0 ? low : high;
  std::array<int, 3> rgb{};
  for (std::size_t i = 0; i < 3; ++i) rgb[i] = int(std::lround(pale[i] + share * (end[i] - pale[i])));
  std::snprintf(text.data(), text.size(), "#%02x%02x%02x", unsigned(rgb[0]), unsigned(rgb[1]),
                unsigned(rgb[2]));
  return text.data();
}

int step_of(double number, double limit) {
  return int(std::lround(std::clamp(number / limit, -1.0, 1.0) * shades));
}

}  // namespace

std::string colour_of(double number, double limit) { return shade(step_of(number, limit)); }

std::string draw_mask(const Matrix<bool>& seen, const std::string& description) {
  const Index rows = seen.rows(), cols = seen.cols();
  std::string path;
  for (Index row = 0, end = 0; row < rows; row = end) {
    for (end = row + 1; end < rows && seen.row(end) == seen.row(row);) ++end;
    for (Index col = 0; col < cols; ++col) {
      if (!seen(row, col)) continue;
      const Index begin = col;
      while (col < cols && seen(row, col)) ++col;
      path += cells(row, begin, end - row, col - begin);
    }
  }
  const std::string inside =
      element("path", "fill=\"var(--hide)\" d=\"" + cells(0, 0, rows, cols) + "\"", "") +
      element("path", "fill=\"var(--see)\" d=\"" + path + "\"", "");
  return frame(rows, cols, {"query", "key"}, description, inside);
}

std::string draw_numbers(const Matrix<double>& numbers, double limit, const TableSides& sides,
                         const std::string& description) {
  if (!(limit > 0)) fail_shape("draw_numbers: limit", std::to_string(limit), "a positive number");
  std::map<int, std::string> path_of;
  for (Index row = 0; row < numbers.rows(); ++row) {
    for (Index col = 0, end = 0; col < numbers.cols(); col = end) {
      const int step = step_of(numbers(row, col), limit);
      for (end = col + 1; end < numbers.cols() && step_of(numbers(row, end), limit) == step;) ++end;
      path_of[step] += middle_line(row, col, end - col);
    }
  }
  std::string inside;
  for (const auto& [step, path] : path_of)
    inside += element("path", "stroke=\"" + shade(step) + "\" d=\"" + path + "\"", "");
  // Cells of a row are strokes along its middle: half the bytes of rectangles.
  return frame(numbers.rows(), numbers.cols(), sides, description,
               element("g", "transform=\"translate(0,0.5)\"", inside));
}

Index count_pairs(const Matrix<bool>& seen) { return Index(seen.count()); }

}  // namespace headwise::report
