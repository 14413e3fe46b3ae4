#include "report/page_parts.hpp"

#include "report/markup.hpp"

namespace headwise::report {

std::string section(const std::string& id, const std::string& title, const std::string& inside) {
  return element("section", "aria-labelledby=\"" + id + "\"",
                 element("h2", "id=\"" + id + "\"", escape(title)) + "\n" + inside) +
         "\n";
}

std::string warning(const std::string& text) {
  return element("p", "class=\"warning\" role=\"note\"", escape(text));
}

std::string chart_figure(const Chart& chart, const std::string& id, const std::string& finding) {
  if (chart.series.empty()) return "";
  const std::optional<std::string> drawing = draw(chart, id);
  if (drawing) return figure(*drawing, with_raised_powers(finding), "chart");
  return warning("No curves here: gnuplot was not installed when this page was written. " + finding);
}

std::string folded(const std::string& summary, const std::string& inside) {
  return element("details", "", element("summary", "", escape(summary)) + inside) + "\n";
}

std::string side_by_side(const std::string& figures) { return element("div", "class=\"pair\"", figures); }

}  // namespace headwise::report
