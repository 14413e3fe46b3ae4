#include "report/chart.hpp"
#include "report/markup.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace headwise::report {

namespace {

/// gnuplot knows numbers, the page knows a scheme: slots are written as colours that stand for palette
/// variables.
std::string stand_in(int slot) {
  std::array<char, 16> colour{};
  std::snprintf(colour.data(), colour.size(), "\"#0101%02x\"", unsigned(slot));
  return colour.data();
}

std::string stand_in_as_written(int slot) {
  std::array<char, 32> colour{};
  std::snprintf(colour.data(), colour.size(), "rgb(%3d, %3d, %3d)", 1, 1, slot);
  return colour.data();
}

constexpr int ink_slot = 98, faint_slot = 99;

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (char c : text) result.append(c == '\'' ? "''" : std::string(1, c));
  return result + "'";
}

void write_axis(std::ostream& script, const Axis& axis, const char* name) {
  script << "set " << name << "label " << quoted(axis.label)
         << (name[0] == 'x' ? " offset 0,0.5\n" : " offset 0.5,0\n");
  if (axis.logarithmic) script << "set logscale " << name << "\n";
  const auto end = [&script](const std::optional<double>& value) {
    value ? script << *value : script << "*";
  };
  script << "set " << name << "range [";
  end(axis.least);
  script << ":";
  end(axis.most);
  script << "]\n";
  if (axis.ticks.empty()) return;
  script << "set " << name << "tics (";
  for (std::size_t i = 0; i < axis.ticks.size(); ++i)
    script << (i == 0 ? "" : ", ") << quoted(axis.ticks[i].second) << " " << axis.ticks[i].first;
  script << ")\n";
}

std::string style_of(const Series& series) {
  constexpr std::array<int, 6> point_types{7, 5, 9, 13, 11, 7};  // disc, square, triangles, diamond
  const auto slot = std::size_t(series.colour) % point_types.size();
  const std::string colour = " linecolor rgb " + stand_in(series.colour);
  const std::string points = " pointtype " + std::to_string(point_types[slot]) + " pointsize 0.7";
  switch (series.stroke) {
    case Stroke::line:
      return "lines linewidth 2" + colour;
    case Stroke::line_and_points:
      return "linespoints linewidth 2" + colour + points;
    case Stroke::points:
      return "points" + colour + points;
    case Stroke::dashed:
      return "lines linewidth 1.5 dashtype (6,5)" + colour;
  }
  return "lines";
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

void erase_between(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t begin = text.find(from); begin != std::string::npos; begin = text.find(from)) {
    const std::size_t end = text.find(to, begin);
    if (end == std::string::npos) return;
    text.erase(begin, end + to.size() - begin);
  }
}

/// gnuplot's file as a part of our page: no XML header, own ids, palette instead of colours, a description.
std::string adopt(std::string svg, const Chart& chart, const std::string& id) {
  const std::size_t box = svg.find("viewBox="), head_end = svg.find('>', box);
  if (box == std::string::npos || head_end == std::string::npos) {
    throw std::runtime_error("gnuplot: its output is no SVG: " + svg.substr(0, 80));
  }
  const std::string view = svg.substr(box, svg.find('"', box + 9) + 1 - box);
  svg.erase(0, head_end + 1);
  erase_between(svg, "<title>Gnuplot", "</title>");
  erase_between(svg, "<desc>", "</desc>");
  erase_between(svg, "<filter", "</filter>");
  replace_all(svg, "xlink:href='#", "href='#" + id);
  for (const char* quote : {"'", "\""})
    replace_all(svg, std::string(" id=") + quote, std::string(" id=") + quote + id);
  for (int slot = 0; slot < 6; ++slot)
    replace_all(svg, stand_in_as_written(slot), "var(--c" + std::to_string(slot) + ")");
  replace_all(svg, stand_in_as_written(faint_slot), "var(--faint)");
  replace_all(svg, "rgb(1,1," + std::to_string(ink_slot) + ")",
              "var(--ink)");  // text is written without spaces
  for (const char* attribute : {"color=\"", "fill=\"", "stroke=\"", "stroke='"})
    replace_all(svg, std::string(attribute) + "black", std::string(attribute) + "var(--ink)");
  replace_all(svg, "font-family=\"sans-serif\"", "");
  for (std::size_t at = svg.find("<g fill=\"none\""); at != std::string::npos;
       at = svg.find("<g fill=\"none\"", at + 1)) {
    const std::size_t end = svg.find('>', at) + 1;
    if (svg.compare(end, 5, "\n</g>") == 0) svg.erase(at, end + 5 - at);
  }
  replace_all(svg, "\n\n", "\n");
  std::string opening = "<svg " + view + " role=\"img\" font-family=\"sans-serif\" aria-label=\"";
  opening += escape(chart.description) + "\">" + element("title", "", escape(chart.description));
  return opening + svg.substr(0, svg.rfind("</svg>") + 6);
}

std::string output_of(const std::string& command, int& status) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start: " + command);
  std::string output;
  std::array<char, 4096> block{};
  for (std::size_t n = 0; (n = std::fread(block.data(), 1, block.size(), pipe)) > 0;)
    output.append(block.data(), n);
  status = pclose(pipe);
  return output;
}

}  // namespace

bool gnuplot_is_installed() {
  int status = 0;
  output_of("gnuplot --version 2>/dev/null", status);
  return status == 0;
}

std::string gnuplot_script(const Chart& chart) {
  std::ostringstream script;
  script.precision(12);
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    script << "$series" << s << " << END\n";
    for (std::size_t i = 0; i < chart.series[s].x.size(); ++i)
      script << chart.series[s].x[i] << " " << chart.series[s].y[i] << "\n";
    script << "END\n";
  }
  script << "set encoding utf8\n"
            "set terminal svg size 480,420 dynamic noenhanced font 'sans-serif,15'\n"
            "set border 3 linecolor rgb "
         << stand_in(faint_slot) << "\nset grid linetype 1 linewidth 1 linecolor rgb " << stand_in(faint_slot)
         << "\nset tics nomirror scale 0.5 textcolor rgb " << stand_in(ink_slot)
         << "\nset mxtics 1\nset mytics 1\nset rmargin 2\nset bmargin 3.5\n"
            "set key tmargin horizontal left maxcols 2 Left reverse samplen 2 spacing 1.2 width -4\n";
  write_axis(script, chart.x, "x");
  write_axis(script, chart.y, "y");
  script << "plot ";
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const Series& series = chart.series[s];
    script << (s == 0 ? "" : ", ") << "$series" << s << " using 1:2 with " << style_of(series)
           << (series.name.empty() ? " notitle" : " title " + quoted(series.name));
  }
  script << "\n";
  return script.str();
}

std::optional<std::string> draw(const Chart& chart, const std::string& id) {
  if (!gnuplot_is_installed()) return std::nullopt;
  std::string path = (std::filesystem::temp_directory_path() / "headwise-chart-XXXXXX").string();
  const int file = mkstemp(path.data());
  if (file < 0) throw std::runtime_error("cannot write a temporary file like " + path);
  close(file);
  std::ofstream(path) << gnuplot_script(chart);
  int status = 0;
  std::string svg = output_of("gnuplot '" + path + "'", status);
  std::filesystem::remove(path);
  if (status != 0) throw std::runtime_error("gnuplot failed on the chart \"" + chart.description + "\"");
  return adopt(std::move(svg), chart, id);
}

}  // namespace headwise::report
