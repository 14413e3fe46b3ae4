#include <headwise/attention/explain.hpp>
#include <headwise/mask/algebra.hpp>
#include <headwise/mask/band.hpp>
#include <headwise/mask/global_tokens.hpp>
#include <headwise/mask/key_lengths.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/mask_laws.hpp"
#include "support/pattern_laws.hpp"

namespace headwise::mask {
namespace {

struct Tokens {
  static std::vector<GlobalTokens> masks() {
    return {GlobalTokens({}), GlobalTokens({0}), GlobalTokens({7, 0, 7, 64}),
            GlobalTokens::ranges({{0, 3}, {60, 70}})};
  }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(GlobalTokens, MaskLaws, Tokens);

struct Rows {
  static std::vector<GlobalRows> masks() {
    std::vector<bool> flags(130, false);
    for (const Index row : {0, 3, 64, 65, 70, 129}) flags[std::size_t(row)] = true;
    return {GlobalRows(flags), GlobalRows(std::vector<bool>(130, true)),
            GlobalRows(std::vector<bool>(130, false))};
  }
  static std::vector<Context> contexts() { return {check::context_of(130), check::context_of(66, 0, 1, 64)}; }
  static Tile domain(const Context& context) { return laws::rows_of(context); }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(GlobalRows, MaskLaws, Rows);

struct Blocks {
  static auto masks() {
    return std::array{GlobalBlocks{}, GlobalBlocks{.block_size = 5, .first = 1, .last = 1},
                      GlobalBlocks{.block_size = 64, .first = 0, .last = 1},
                      GlobalBlocks{.block_size = 1, .first = 0, .last = 0},
                      GlobalBlocks{.block_size = 9, .first = 90, .last = 1}};
  }
  static std::vector<Context> contexts() {
    return {check::context_of(70), check::context_of(1, 0, 1, 9), check::context_of(65)};
  }
  static Tile domain(const Context& context) { return laws::rows_of(context); }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(GlobalBlocks, MaskLaws, Blocks);

TEST(GlobalTokens, SeeAndAreSeenByAll) {
  namespace hw = headwise;
  // [docs mask/global_tokens]
  const auto longformer = hw::mask::Band{.left = 1, .right = 1} || hw::mask::GlobalTokens({0, 5});
  const std::string picture = hw::mask::to_string(longformer, 7, 7);
  // "#######\n"
  // "###..#.\n"
  // "####.#.\n"
  // "#.####.\n"
  // "#..###.\n"
  // "#######\n"
  // "#....##\n"
  // [docs end]
  EXPECT_EQ(picture, "#######\n###..#.\n####.#.\n#.####.\n#..###.\n#######\n#....##\n");
}

TEST(GlobalTokens, WithAWindowHaveThePublishedNumbers) {
  const auto got = check::attend_to_waves(Band{.left = 2, .right = 2} || GlobalTokens({0, 7}));
  EXPECT_NEAR(check::checksum(got.output), 0.563741518392, 1e-11);
  EXPECT_EQ(explain({.q_len = 12, .k_len = 12}, {}, Band{2, 2} || GlobalTokens({0, 7})).pairs, 84);
}

/// Two global rows of seq_len keys each, two global columns less what the window and the rows have already.
TEST(GlobalTokens, CostWhatTheFormulaSays) {
  const Index length = 1024, reach = 16;
  const Index window = length * (2 * reach + 1) - reach * (reach + 1);
  const Index rows = 2 * (length - (2 * reach + 1));     // the two rows' keys outside the window
  const Index columns = 2 * (length - (2 * reach + 1));  // as many queries outside it
  EXPECT_EQ(
      explain({.q_len = length, .k_len = length}, {}, Band{reach, reach} || GlobalTokens({300, 700})).pairs,
      window + rows + columns - 2);  // (300, 700) and (700, 300) are in a row and in a column
}

TEST(GlobalTokens, BlocksAtTheEndsAreThoseOfEachSequence) {
  const GlobalBlocks ends{.block_size = 3, .first = 1, .last = 1};
  EXPECT_EQ(to_string(ends, 8, 8),  // the last block is short
            "########\n########\n########\n###...##\n###...##\n###...##\n########\n########\n");
  EXPECT_EQ(to_string(ends, 2, 2), "##\n##\n");
  for (Index length = 1; length <= 70; ++length) {
    const Matrix<bool> seen = to_dense(GlobalBlocks{.block_size = 7, .first = 2, .last = 1}, length, length);
    const Index last = (length - 1) / 7;
    const auto global = [&](Index i) { return i / 7 < 2 || i / 7 == last; };
    for (Index q = 0; q < length; ++q)
      for (Index k = 0; k < length; ++k) ASSERT_EQ(seen(q, k), global(q) || global(k)) << length;
  }
}

/// Sequences of a batch may have any numbers of global tokens (cf. B85: any length, padding hidden).
TEST(GlobalTokens, B85_AWindowNeedNotDivideTheLength) {
  const auto expect_rows = [](Index padding) {
    Matrix<double> zeros = Matrix<double>::Zero(5 + padding, 1), value = zeros;
    value.col(0).head(5) << 1, 2, 4, 8, 16;
    value.bottomRows(padding).setConstant(1000);
    const auto mask = check::answers_of((Band{1, 1} || GlobalTokens({0})) && KeyLengths{{5}}, 5 + padding);
    const Matrix<double> got = attend(zeros, zeros, value, mask);
    Matrix<double> expected(5, 1);
    expected << 6.2, 2.33333333, 3.75, 7.25, 8.33333333;
    EXPECT_TRUE(check::near(got.topRows(5).eval(), expected, 1e-8)) << padding;
  };
  expect_rows(0);
  expect_rows(3);
}

TEST(GlobalTokens, RefuseRowsThatAreNotThere) {
  EXPECT_EQ(check::refusal([] {
              (void)GlobalTokens({3, -1});
            }),
            "GlobalTokens: position is -1, expected zero or more");
  EXPECT_EQ(check::refusal([] {
              (void)GlobalTokens::ranges({{0, 2}, {6, 4}});
            }),
            "GlobalTokens: end of a range is 4, expected at least 6, where it begins");
  EXPECT_EQ(check::refusal([] {
              (void)to_dense(GlobalRows({true, false}), 3, 3);
            }),
            "GlobalRows: number of flags is 2, expected 3; give one bool for each row");
  EXPECT_EQ(check::refusal([] {
              (void)to_dense(GlobalRows({true, false}), 2, 3);
            }),
            "GlobalRows: number of keys is 3, expected 2; global tokens are for self-attention");
  EXPECT_EQ(check::refusal([] { (void)to_dense(GlobalBlocks{.block_size = 0}, 2, 2); }),
            "GlobalBlocks: block_size is 0, expected a positive number");
  EXPECT_EQ(check::refusal([] { (void)to_dense(GlobalBlocks{}, 2, 3); }),
            "GlobalBlocks: number of queries is 2, expected 3; global blocks are for self-attention");
}

}  // namespace
}  // namespace headwise::mask
