#include <gtest/gtest.h>

#include "report/balance.hpp"
#include "report/gallery.hpp"
#include "report/palette.hpp"

#include <cstdlib>
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

// What is hashed, clustered or balanced goes through rounded numbers.
TEST(Figures, OfCallsAndPositionsAreWellFormedAndThere) {
  for (const auto& pictures : {draw_calls(), draw_positions()}) {
    for (const Picture& picture : pictures) {
      EXPECT_EQ(imbalance(picture.svg), "") << picture.name;
      EXPECT_TRUE(std::filesystem::exists(docs / "figures" / (picture.name + ".svg"))) << picture.name;
    }
  }
}

// A pattern that is drawn from the weights of a call says what the mask of the same pairs says.
TEST(Figures, OfCallsShowTheUnionOfTheirParts) {
  const auto caption_of = [](const std::string& name) {
    for (const Picture& picture : draw_calls())
      if (picture.name == name) return picture.caption;
    return std::string();
  };
  Index strided = 0, longformer = 0, etc = 0;
  for (Index i = 0; i < 48; ++i) {
    for (Index j = 0; j < 48; ++j) {
      strided += j <= i && (i - j < 7 || (i - j) % 7 == 0);
      longformer += std::abs(i - j) <= 4 || i == 0 || i == 20 || j == 0 || j == 20;
      etc += i < 8 || j < 8 || std::abs(i - j) <= 3;
    }
  }
  EXPECT_NE(caption_of("attention/strided").find(" " + std::to_string(strided) + " of 2,304"),
            std::string::npos);
  EXPECT_NE(caption_of("attention/longformer").find(" " + std::to_string(longformer) + " of 2,304"),
            std::string::npos);
  EXPECT_NE(caption_of("attention/etc").find(" " + std::to_string(etc) + " of 2,304"), std::string::npos);
}

TEST(Figures, AreAllInTheGallery) {
  const std::string gallery = content(docs / "gallery.md");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(docs / "figures")) {
    if (!entry.is_regular_file()) continue;
    const std::string name = std::filesystem::relative(entry.path(), docs).string();
    EXPECT_NE(gallery.find("(" + name + ")"), std::string::npos) << name;
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
