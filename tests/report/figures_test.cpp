#include <gtest/gtest.h>

#include "report/balance.hpp"
#include "report/gallery.hpp"
#include "report/palette.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace headwise::report {
namespace {

const std::filesystem::path docs = std::filesystem::path(HEADWISE_SOURCE_DIR) / "docs";

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Masks are exact, so their pictures are the same on every machine.
TEST(Figures, OfMasksAreWhatTheMasksSayToday) {
  for (const Picture& picture : draw_masks()) {
    const auto path = docs / "figures" / (picture.name + ".svg");
    EXPECT_EQ(content(path), standalone(picture.svg))
        << path << "\ndraw it again: headwise_report --figures docs/figures";
  }
}

TEST(Figures, OfPositionsAreWellFormedAndThere) {
  for (const Picture& picture : draw_positions()) {
    EXPECT_EQ(imbalance(picture.svg), "") << picture.name;
    EXPECT_TRUE(std::filesystem::exists(docs / "figures" / (picture.name + ".svg"))) << picture.name;
  }
}

TEST(Figures, AreShownOnThePageOfTheirName) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(docs / "figures")) {
    if (!entry.is_regular_file()) continue;
    auto page = std::filesystem::relative(entry.path(), docs / "figures").replace_extension(".md");
    const std::string line =
        "(../figures/" + page.parent_path().string() + "/" + page.stem().string() + ".svg)";
    EXPECT_NE(content(docs / page).find(line), std::string::npos) << page << " does not show its figure";
  }
}

TEST(Figures, ThatPagesShowExist) {
  std::size_t shown = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(docs)) {
    if (entry.path().extension() != ".md") continue;
    const std::string text = content(entry.path());
    for (std::size_t at = 0; (at = text.find("](../figures/", at)) != std::string::npos; ++shown) {
      const std::size_t begin = at + 2, end = text.find(')', begin);
      const auto figure = entry.path().parent_path() / text.substr(begin, end - begin);
      EXPECT_TRUE(std::filesystem::exists(figure)) << entry.path() << " shows " << figure;
      at = end;
    }
  }
  EXPECT_GT(shown, 0U);
}

}  // namespace
}  // namespace headwise::report
