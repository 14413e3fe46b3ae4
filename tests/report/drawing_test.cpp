#include "report/drawing.hpp"

#include <headwise/core/error.hpp>

#include <gtest/gtest.h>

#include "report/balance.hpp"
#include "report/palette.hpp"

#include <sstream>
#include <string>
#include <vector>

namespace headwise::report {
namespace {

Matrix<bool> mask_of(const std::vector<std::string>& lines) {
  Matrix<bool> seen(Index(lines.size()), lines.empty() ? 0 : Index(lines[0].size()));
  for (Index i = 0; i < seen.rows(); ++i)
    for (Index j = 0; j < seen.cols(); ++j) seen(i, j) = lines[std::size_t(i)][std::size_t(j)] == '#';
  return seen;
}

/// Fills the rectangles of a picture's second path back into a matrix; a cell that is painted twice fails.
Matrix<bool> painted(const std::string& svg, Index rows, Index cols) {
  Matrix<bool> seen = Matrix<bool>::Constant(rows, cols, false);
  const std::size_t path = svg.find("var(--see)"), begin = svg.find("d=\"", path) + 3;
  std::istringstream commands(svg.substr(begin, svg.find('"', begin) - begin));
  char letter = 0;
  while (commands >> letter) {
    Index col = 0, row = 0, width = 0, height = 0, back = 0;
    char h = 0, v = 0, again = 0, close = 0;
    commands >> col >> row >> h >> width >> v >> height >> again >> back >> close;
    EXPECT_EQ(std::string({letter, h, v, again, close}), "Mhvhz");
    EXPECT_EQ(back, -width);
    for (Index i = row; i < row + height; ++i) {
      for (Index j = col; j < col + width; ++j) {
        EXPECT_FALSE(seen(i, j)) << "painted twice";
        seen(i, j) = true;
      }
    }
  }
  return seen;
}

TEST(Drawing, PaintsEveryAllowedPairOnce) {
  for (const auto& lines : std::vector<std::vector<std::string>>{{"#"},
                                                                 {"."},
                                                                 {"#..", "##.", "###"},
                                                                 {"#.#.#", ".#.#.", "#.#.#"},
                                                                 {"##..", "##..", "..##", "..##"}}) {
    const Matrix<bool> seen = mask_of(lines);
    const std::string svg = draw_mask(seen, "a mask");
    EXPECT_EQ(painted(svg, seen.rows(), seen.cols()), seen) << svg;
    EXPECT_EQ(imbalance(svg), "");
  }
}

TEST(Drawing, JoinsEqualRows) {
  const std::string svg = draw_mask(mask_of({"##.", "##.", "##."}), "a mask");
  EXPECT_NE(svg.find("d=\"M0 0h2v3h-2z\""), std::string::npos) << svg;
}

TEST(Drawing, SurvivesAnEmptyMask) { EXPECT_EQ(imbalance(draw_mask(Matrix<bool>(0, 0), "nothing")), ""); }

TEST(Drawing, DescribesItselfSafely) {
  const std::string svg = draw_mask(mask_of({"#"}), "keys < \"5\"");
  EXPECT_NE(svg.find("aria-label=\"keys &lt; &quot;5&quot;\""), std::string::npos);
  EXPECT_NE(svg.find("<title>keys &lt; &quot;5&quot;</title>"), std::string::npos);
}

TEST(Drawing, ColoursRunFromBlueOverPaleToOrange) {
  EXPECT_EQ(colour_of(0, 1), "#f5f5f3");
  EXPECT_EQ(colour_of(-1, 1), "#00548c");
  EXPECT_EQ(colour_of(1, 1), "#b84e00");
  EXPECT_EQ(colour_of(7, 1), colour_of(1, 1)) << "beyond the limit the colour stays";
  EXPECT_EQ(colour_of(5, 10), colour_of(0.5, 1));
}

TEST(Drawing, NumbersOfOneColourAreOneStroke) {
  Matrix<double> numbers(1, 4);
  numbers << -1, -1, 1, 1;
  const std::string svg = draw_numbers(numbers, 1, {"row", "column"}, "numbers");
  EXPECT_NE(svg.find("<path stroke=\"#00548c\" d=\"M0 0h2\">"), std::string::npos) << svg;
  EXPECT_NE(svg.find("<path stroke=\"#b84e00\" d=\"M2 0h2\">"), std::string::npos) << svg;
  EXPECT_EQ(imbalance(svg), "");
}

TEST(Drawing, NeedsALimitForItsColours) {
  EXPECT_THROW((void)draw_numbers(Matrix<double>::Zero(1, 1), 0, {"row", "column"}, "x"), ShapeError);
}

TEST(Drawing, StandsAloneWithItsPalette) {
  const std::string file = standalone(draw_mask(mask_of({"#"}), "a mask"));
  EXPECT_TRUE(file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox="));
  EXPECT_NE(file.find("--see:"), std::string::npos);
  EXPECT_NE(file.find("prefers-color-scheme:dark"), std::string::npos);
  EXPECT_EQ(imbalance(file), "");
  EXPECT_THROW((void)standalone("<p></p>"), std::invalid_argument);
}

}  // namespace
}  // namespace headwise::report
