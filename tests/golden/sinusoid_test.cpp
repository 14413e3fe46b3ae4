#include <headwise/position/sinusoidal.hpp>

#include "support/golden.hpp"

#include <optional>

namespace headwise::position {
namespace {

std::optional<SinusoidLayout> layout_of(const golden::Case& each) {
  const std::string layout = each.text_or("layout", "interleaved");
  if (layout.starts_with("interleaved")) return SinusoidLayout::interleaved;
  if (layout.starts_with("concatenated")) return SinusoidLayout::concatenated;
  return std::nullopt;
}

std::optional<SinusoidGrid> grid_of(const golden::Case& each) {
  const std::string grid = each.text_or("grid", "paper");
  if (grid == "paper") return SinusoidGrid::paper;
  if (grid == "tensor2tensor") return SinusoidGrid::tensor2tensor;
  return std::nullopt;
}

TEST(SinusoidGolden, TablesAgree) {
  for (const golden::Case& each : golden::cases("sinusoid")) {
    SCOPED_TRACE(each.name());
    const auto layout = layout_of(each);
    const auto grid = grid_of(each);
    const auto unknown = each.settings_besides({"L", "base", "d", "grid", "layout"});
    if (!layout || !grid || !unknown.empty()) {
      golden::skip(each, "layout " + each.text_or("layout", "") + ", grid " + each.text_or("grid", "") +
                             ", other settings: " + unknown);
      continue;
    }
    const auto expected = each.rows("out.pe");  // [L, d]
    const Sinusoidal encoding({.d_model = expected.cols(),
                               .layout = *layout,
                               .grid = *grid,
                               .base = each.number_or("base", 10000)});
    EXPECT_TRUE(
        golden::match(encoding.table<double>(consecutive(expected.rows())), expected, each.tolerance()));
    EXPECT_TRUE(golden::match(encoding(Matrix<double>(2 * expected)), 3 * expected, each.tolerance()));
  }
}

}  // namespace
}  // namespace headwise::position
