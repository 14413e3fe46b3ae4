#include <headwise/attention/explain.hpp>
#include <headwise/mask/algebra.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/local_block.hpp>
#include <headwise/mask/picture.hpp>

#include <gtest/gtest.h>

#include "support/mask_laws.hpp"
#include "support/pattern_laws.hpp"

namespace headwise::mask::local_block_test {
namespace {

/// The definition, with the quotient written out.
check::AnyMask definition(Index block, Index memory) {
  return [=](Index q, Index k) {
    const Index start = q / block * block;
    return start - memory <= k && k < start + block + memory;
  };
}

struct LocalBlocks {
  static auto masks() {
    return std::array{LocalBlock{.query_block = 1, .memory = 0},  LocalBlock{.query_block = 1, .memory = 3},
                      LocalBlock{.query_block = 4, .memory = 2},  LocalBlock{.query_block = 5, .memory = 7},
                      LocalBlock{.query_block = 64, .memory = 0}, LocalBlock{.query_block = 7, .memory = 64},
                      LocalBlock{.query_block = 65, .memory = 65}};
  }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(LocalBlock, MaskLaws, LocalBlocks);

TEST(LocalBlock, QueriesOfABlockShareTheirKeys) {
  namespace hw = headwise;
  // [docs mask/local_block]
  const auto local = hw::mask::LocalBlock{.query_block = 3, .memory = 1} && hw::mask::Causal{};
  const std::string picture = hw::mask::to_string(local, 7, 7);
  // "#......\n"
  // "##.....\n"
  // "###....\n"
  // "..##...\n"
  // "..###..\n"
  // "..####.\n"
  // ".....##\n"
  // [docs end]
  EXPECT_EQ(picture, "#......\n##.....\n###....\n..##...\n..###..\n..####.\n.....##\n");
}

TEST(LocalBlock, ListsExactlyItsPairsForEveryLength) {
  for (const Index block : {1, 2, 5, 16, 64, 71}) {
    for (const Index memory : {0, 1, 5, 70}) {
      SCOPED_TRACE(std::to_string(block) + ", " + std::to_string(memory));
      const LocalBlock local{.query_block = block, .memory = memory};
      check::expect_plan_lists([&](Index length) { return local.plan(length); },
                               [&](Index) { return definition(block, memory); });
      EXPECT_EQ(to_dense(local, 70, 70).cast<int>().sum(), check::listed_pairs(local.plan(70), 70).sum());
    }
  }
}

TEST(LocalBlock, IsDenseAttentionUnderItsDefinition) {
  for (const Index length : {1, 3, 47, 65}) {
    const LocalBlock local{.query_block = 9, .memory = 4};
    check::PatternLaws(length, local.plan(length), definition(9, 4)).expect_all();
  }
}

TEST(LocalBlock, HasThePublishedNumbers) {
  const auto first = check::attend_to_waves(LocalBlock{.query_block = 4, .memory = 2} && Causal{});
  EXPECT_NEAR(check::checksum(first.output), 2.215188461303, 1e-11);
  EXPECT_NEAR(first.lse(5, 0), 1.803438401036, 1e-11);
  const auto short_end = check::attend_to_waves(LocalBlock{.query_block = 5, .memory = 3} && Causal{});
  EXPECT_NEAR(check::checksum(short_end.output), 2.089977457891, 1e-11);
  const auto sum_of = [](Index block, Index memory) {
    const LocalBlock local{.query_block = block, .memory = memory};
    return check::checksum(check::attend_to_waves(check::answers_of(local, 12)).output);
  };
  EXPECT_NEAR(sum_of(3, 3), 0.576435436003, 1e-11);  // a block and both neighbours
  EXPECT_NEAR(sum_of(4, 0), 1.194481802034, 1e-11);  // within blocks
}

/// Full blocks see block + 2 memory keys but for the two at the ends.
TEST(LocalBlock, CostsWhatTheFormulaSays) {
  const Index length = 4096, block = 256, memory = 128;
  const Explanation both =
      explain({.q_len = length, .k_len = length}, {}, LocalBlock{.query_block = block, .memory = memory});
  EXPECT_EQ(both.pairs, length * (block + 2 * memory) - 2 * block * memory);
  const Explanation causal = explain({.q_len = length, .k_len = length}, {},
                                     LocalBlock{.query_block = block, .memory = memory} && Causal{});
  EXPECT_EQ(causal.pairs, length * memory - block * memory + length / block * (block * (block + 1) / 2));
  EXPECT_EQ(causal.forward_flops, 4.0 * 64 * double(causal.pairs));
  EXPECT_EQ(explain({.q_len = 12, .k_len = 12}, {}, LocalBlock{4, 2} && Causal{}).pairs, 46);
  EXPECT_EQ(explain({.q_len = 12, .k_len = 12}, {}, LocalBlock{5, 3} && Causal{}).pairs, 54);
}

TEST(LocalBlock, AShortSequenceIsOneBlock) {
  EXPECT_EQ(to_string(LocalBlock{.query_block = 256, .memory = 256} && Causal{}, 3, 3), "#..\n##.\n###\n");
}

TEST(LocalBlock, RefusesSizesThatAreNone) {
  EXPECT_EQ(check::refusal([] { (void)to_dense(LocalBlock{.query_block = 0, .memory = 1}, 3, 3); }),
            "LocalBlock: query_block is 0, expected a positive number");
  EXPECT_EQ(check::refusal([] { (void)LocalBlock{.query_block = 1, .memory = -1}.plan(3); }),
            "LocalBlock: memory is -1, expected zero or more");
  EXPECT_EQ(check::refusal([] { (void)LocalBlock{}.plan(-1); }),
            "LocalBlock: length is -1, expected zero or more");
}

}  // namespace
}  // namespace headwise::mask::local_block_test
