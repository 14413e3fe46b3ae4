#include <headwise/mask/random_blocks.hpp>

#include <gtest/gtest.h>

#include "support/mask_laws.hpp"
#include "support/pattern_laws.hpp"

#include <set>

namespace headwise::mask {
namespace {

struct Tables {
  static std::vector<RandomBlocks> masks() {
    return {RandomBlocks(5, 15, 1, std::vector<Index>(15, -1)),
            RandomBlocks::draw({.block_size = 5, .blocks = 15, .random = 3, .heads = 2}),
            RandomBlocks::draw({.block_size = 1, .blocks = 80, .random = 16, .heads = 2, .seed = 4}),
            RandomBlocks(40, 2, 2, {0, 0, 1, -1, 1, 0, 0, 1})};
  }
  static std::vector<Context> contexts() {
    return {check::context_of(70, 0, 2), check::context_of(70, 1, 2)};
  }
  static Tile domain(const Context&) { return {{0, 63}, {0, 70}}; }  // queries are moved on by 7
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(RandomBlocks, MaskLaws, Tables);

TEST(RandomBlocks, AreDrawnFromASeedOrHandedIn) {
  namespace hw = headwise;
  // [docs mask/random_blocks]
  // One block a row of blocks; -1 is none. Drawn: RandomBlocks::draw({.block_size = 2, .blocks = 4, ...}).
  const hw::mask::RandomBlocks random(/*block_size=*/2, /*blocks=*/4, /*heads=*/1, {-1, 3, 0, -1});
  const std::string picture = hw::mask::to_string(random, 8, 8);
  // "........\n"
  // "........\n"
  // "......##\n"
  // "......##\n"
  // "##......\n"
  // "##......\n"
  // "........\n"
  // "........\n"
  // [docs end]
  EXPECT_EQ(picture, "........\n........\n......##\n......##\n##......\n##......\n........\n........\n");
}

TEST(RandomBlocks, LeaveOutWhatTheWindowAndTheEndsShow) {
  const Index n = 16;
  for (Index seed = 0; seed < 20; ++seed) {
    const auto random = RandomBlocks::draw(
        {.block_size = 4, .blocks = n, .random = 3, .heads = 3, .seed = std::uint64_t(seed)});
    for (Index head = 0; head < 3; ++head) {
      for (Index row = 0; row < n; ++row) {
        std::set<Index> drawn;
        for (Index i = 0; i < 3; ++i) drawn.insert(random.at(head, row, i));
        if (row == 0 || row == n - 1) {
          EXPECT_EQ(drawn, std::set<Index>{-1});
          continue;
        }
        EXPECT_EQ(drawn.size(), 3U) << "each block once";
        for (const Index b : drawn)
          EXPECT_TRUE(1 <= b && b <= n - 2 && std::abs(b - row) > 1) << row << " drew " << b;
      }
    }
  }
}

TEST(RandomBlocks, AreTheSameForTheSameSeedAndOthersElse) {
  const auto table = [](std::uint64_t seed, Index layer, Index head) {
    const auto random = RandomBlocks::draw(
        {.block_size = 2, .blocks = 40, .random = 2, .heads = 3, .seed = seed, .layer = layer});
    std::vector<Index> row;
    for (Index b = 0; b < 40; ++b) row.push_back(random.at(head, b, 0));
    return row;
  };
  EXPECT_EQ(table(1, 0, 0), table(1, 0, 0));
  EXPECT_NE(table(1, 0, 0), table(2, 0, 0));
  EXPECT_NE(table(1, 0, 0), table(1, 1, 0));
  EXPECT_NE(table(1, 0, 0), table(1, 0, 1));
}

TEST(RandomBlocks, B86_DrawEveryBlockAboutAsOften) {
  std::vector<int> drawn(16, 0);
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const auto random = RandomBlocks::draw({.block_size = 1, .blocks = 16, .random = 1, .seed = seed});
    ++drawn[std::size_t(random.at(0, 8, 0))];
  }
  for (const Index b : {1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 14}) {
    EXPECT_GE(drawn[std::size_t(b)], 46) << b;
    EXPECT_LE(drawn[std::size_t(b)], 137) << b;
  }
  for (const Index b : {0, 7, 8, 9, 15}) EXPECT_EQ(drawn[std::size_t(b)], 0) << b;
}

TEST(RandomBlocks, RefuseTablesAndSizesThatDoNotFit) {
  EXPECT_EQ(
      check::refusal([] { (void)RandomBlocks::draw({.block_size = 64, .blocks = 6, .random = 3}); }),
      "RandomBlocks: candidates for block 1 is 2, expected at least 3 (random); take smaller blocks, fewer "
      "random ones, or full attention");
  EXPECT_EQ(check::refusal([] { (void)RandomBlocks::draw({.block_size = 64}); }),
            "RandomBlocks: blocks is 0, expected a positive number");
  EXPECT_EQ(check::refusal([] { (void)RandomBlocks(0, 4, 1, {}); }),
            "RandomBlocks: block_size is 0, expected a positive number");
  EXPECT_EQ(
      check::refusal([] {
        (void)RandomBlocks(2, 4, 1, {0, 1, 2});
      }),
      "RandomBlocks: numbers in the table is 3, expected a multiple of 4 (heads * blocks); give each block "
      "of queries of each head as many");
  EXPECT_EQ(check::refusal([] {
              (void)RandomBlocks(2, 4, 1, {0, 1, 4, 2});
            }),
            "RandomBlocks: table[2] is 4, expected a block, 0 to 3, or -1 for none");
  EXPECT_EQ(check::refusal([] { (void)RandomBlocks(2, 1, 1, std::vector<Index>(17, 0)); }),
            "RandomBlocks: blocks drawn for one is 17, expected at most 16");
  const RandomBlocks two(2, 4, 2, std::vector<Index>(8, 0));
  EXPECT_EQ(check::refusal([&] { (void)to_dense(two, 8, 8, {.heads = 3}); }),
            "RandomBlocks: heads is 2, expected 3; 1 shares a table");
  EXPECT_EQ(
      check::refusal([&] { (void)to_dense(two, 9, 9, {.heads = 2}); }),
      "RandomBlocks: blocks * block_size is 8, expected at least 9, the tokens of sequence 0; draw a table "
      "for the longest sequence");
}

}  // namespace
}  // namespace headwise::mask
