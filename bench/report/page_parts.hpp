#pragma once

#include "report/chart.hpp"

#include <string>

/// The pieces that sections of the page are made of.
namespace headwise::report {

/// A section with its heading; `inside` is markup.
std::string section(const std::string& id, const std::string& title, const std::string& inside);

/// Text that must not be overlooked.
std::string warning(const std::string& text);

/// A chart with its finding as caption, or word that gnuplot was missing.
std::string chart_figure(const Chart& chart, const std::string& id, const std::string& finding);

/// What opens when its summary is clicked.
std::string folded(const std::string& summary, const std::string& inside);

/// Figures side by side where there is room.
std::string side_by_side(const std::string& figures);

}  // namespace headwise::report
