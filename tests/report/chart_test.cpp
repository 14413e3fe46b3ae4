#include <gtest/gtest.h>

#include "report/balance.hpp"
#include "report/charts.hpp"
#include "report/made_up_results.hpp"

#include <string>

namespace headwise::report {
namespace {

Chart small_chart() {
  Chart chart;
  chart.description = "time < length";
  chart.x = {"tokens L", true, {{256, "256"}, {512, "512"}}, 200.0, 600.0};
  chart.y = {"user's time (µs)"};
  chart.series.push_back({"it's <b>", 0, Stroke::line_and_points, {256, 512}, {1e-7, 4e-7}});
  return chart;
}

TEST(Chart, ScriptCarriesTheDataAndQuotesItsWords) {
  const std::string script = gnuplot_script(small_chart());
  EXPECT_NE(script.find("$series0 << END\n256 1e-07\n512 4e-07\nEND\n"), std::string::npos) << script;
  EXPECT_NE(script.find("set ylabel 'user''s time (µs)'"), std::string::npos) << script;
  EXPECT_NE(script.find("set xrange [200:600]"), std::string::npos) << script;
  EXPECT_NE(script.find("set yrange [*:*]"), std::string::npos) << script;
  EXPECT_NE(script.find("set logscale x"), std::string::npos) << script;
  EXPECT_EQ(script.find("set logscale y"), std::string::npos) << script;
  EXPECT_NE(script.find("title 'it''s <b>'"), std::string::npos) << script;
}

TEST(Chart, DrawingFitsIntoThePage) {
  if (!gnuplot_is_installed()) GTEST_SKIP() << "gnuplot is not installed";
  const std::optional<std::string> svg = draw(small_chart(), "one-");
  ASSERT_TRUE(svg.has_value());
  EXPECT_TRUE(svg->starts_with("<svg viewBox=\"0 0 "));
  EXPECT_TRUE(svg->ends_with("</svg>"));
  EXPECT_NE(svg->find("aria-label=\"time &lt; length\""), std::string::npos);
  EXPECT_NE(svg->find("var(--c0)"), std::string::npos) << "colours come from the page";
  EXPECT_NE(svg->find("tokens L"), std::string::npos);
  EXPECT_EQ(svg->find("http://"), std::string::npos);
  EXPECT_EQ(svg->find("rgb("), std::string::npos) << "no colour is left that the dark scheme cannot change";
  EXPECT_EQ(svg->find(" id='gp"), std::string::npos) << "ids begin with the chart's own";
}

TEST(Chart, TimeIsNamedWithItsExponent) {
  const Chart chart = time_chart(made_up_results(), Direction::forward);
  ASSERT_EQ(chart.series.size(), patterns.size());
  EXPECT_EQ(chart.series[0].name, "dense, exponent 2.00");
  EXPECT_TRUE(chart.x.logarithmic);
  EXPECT_TRUE(chart.y.logarithmic);
  for (std::size_t i = 0; i < patterns.size(); ++i) EXPECT_EQ(chart.series[i].colour, int(patterns[i]));
}

TEST(Chart, ThroughputStandsBelowTheMeasuredPeak) {
  const Chart chart = throughput_chart(made_up_results(), Direction::forward);
  EXPECT_EQ(chart.series.back().name, "measured peak");
  EXPECT_EQ(chart.series.back().y, (std::vector<double>{200, 200}));
  EXPECT_NEAR(chart.series.front().y.back(), 100, 1e-9);
}

}  // namespace
}  // namespace headwise::report
