#include <headwise/attention/explain.hpp>
#include <headwise/attention/plans.hpp>
#include <headwise/mask/big_bird.hpp>
#include <headwise/mask/none.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/heads.hpp"
#include "support/mask_laws.hpp"
#include "support/pattern_laws.hpp"

namespace headwise::mask::big_bird_test {
namespace {

/// The definition: blocks of `size`, and the random blocks of a row of blocks.
check::AnyMask definition(Index length, Index size, std::function<std::vector<Index>(Index row)> random) {
  return [=](Index q, Index k) {
    const Index row = q / size, block = k / size, last = (length - 1) / size;
    if (std::abs(row - block) <= 1 || row == 0 || row == last || block == 0 || block == last) return true;
    for (const Index b : random(row))
      if (b == block) return true;
    return false;
  };
}

std::function<std::vector<Index>(Index row)> rows_of(const RandomBlocks& random, Index head) {
  return [=](Index row) {
    std::vector<Index> blocks;
    for (Index i = 0; i < random.random(); ++i) blocks.push_back(random.at(head, row, i));
    return blocks;
  };
}

const RandomBlocks table = RandomBlocks::draw({.block_size = 5, .blocks = 14, .random = 2, .heads = 2});

struct Birds {
  static std::vector<BigBird> masks() { return {BigBird(table)}; }
  static std::vector<Context> contexts() {
    return {check::context_of(70, 0, 2), check::context_of(66, 1, 2), check::context_of(3, 1, 2)};
  }
  static Tile domain(const Context& context) {
    return {{0, std::max<Index>(1, context.query_rows.size() - 7)}, {0, context.key_rows.size()}};
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(BigBird, MaskLaws, Birds);

TEST(BigBird, IsAWindowTheEndsAndRandomBlocks) {
  namespace hw = headwise;
  // [docs mask/big_bird]
  const auto random = hw::mask::RandomBlocks::draw({.block_size = 4, .blocks = 12, .random = 2, .heads = 2});
  const hw::mask::BigBird big_bird(random);
  const hw::Plans plans = hw::plans_of(big_bird, /*length=*/48, /*heads=*/2);

  hw::Rng rng(1);
  const auto x = hw::normal(48, 16, 1.0, rng);
  const auto as_mask = hw::attend(x, x, x, {.heads = 2}, big_bird);
  const auto over_plans = hw::attend_over(plans, x, x, x, {.heads = 2}).output;  // the same, gathered
  // [docs end]
  EXPECT_TRUE(check::near(as_mask, over_plans, 1e-13));
  const auto expected = reference::attention(x, x, x, 2, 2, [&](Index head) {
    reference::Problem problem;
    problem.allows = definition(48, 4, rows_of(random, head));
    return problem;
  });
  EXPECT_TRUE(check::near(as_mask, expected, 1e-12));
}

TEST(BigBird, ListsExactlyItsPairsForEveryLength) {
  for (Index head = 0; head < 2; ++head) {
    check::expect_plan_lists([&](Index n) { return BigBird(table).plan(n, head); },
                             [&](Index n) { return definition(n, 5, rows_of(table, head)); });
    for (Index length = 1; length <= 70; ++length) {
      const auto defined = definition(length, 5, rows_of(table, head));
      const Matrix<bool> seen = to_dense(BigBird(table), length, length, {.head = head, .heads = 2});
      for (Index q = 0; q < length; ++q)
        for (Index k = 0; k < length; ++k) ASSERT_EQ(seen(q, k), defined(q, k)) << length;
    }
  }
}

TEST(BigBird, OverItsPlanIsDenseAttention) {
  for (const Index length : {1, 24, 66}) {
    check::PatternLaws(length, BigBird(table).plan(length, 1), definition(length, 5, rows_of(table, 1)))
        .expect_all();
  }
}

Matrix<double> over_waves(const Plan& plan, Matrix<double>* lse = nullptr) {
  const check::AnyMask all = [](Index, Index) { return true; };
  const auto got = attend_over(Plans{{plan}}, check::waves(0, 24, 4), check::waves(1, 24, 4),
                               check::waves(2, 24, 4), AttendOptions{}, all);
  if (lse != nullptr) *lse = got.lse;
  return got.output;
}

TEST(BigBird, HasThePublishedNumbers) {
  const BigBird bird(RandomBlocks(3, 8, 1, {-1, 4, 5, 6, 1, 2, 3, -1}));
  Matrix<double> lse;
  const Matrix<double> got = over_waves(bird.plan(24, 0), &lse);
  EXPECT_NEAR(check::checksum(got), -0.489737537312, 1e-11);
  EXPECT_NEAR(lse(7, 0), 3.166756505520, 1e-11);
  Matrix<double> row(1, 4);
  row << -0.219210751337, 0.357652528096, -0.302768035153, 0.124002850505;
  EXPECT_TRUE(check::near(got.row(7), row, 1e-11));
  EXPECT_EQ(check::listed_pairs(bird.plan(24, 0), 24).sum(), 450);
}

/// Block row 3 draws the global last block: a set counts it once, the published sparse code twice.
TEST(BigBird, CountsARepeatedBlockOnceUnlessToldOtherwise) {
  const BigBird bird(RandomBlocks(3, 8, 1, {-1, 4, 5, 7, 1, 2, 3, -1}));
  EXPECT_NEAR(check::checksum(over_waves(bird.plan(24, 0))), -0.731057161836, 1e-11);
  EXPECT_NEAR(check::checksum(over_waves(bird.plan_with_repeats(24, 0))), -0.807842971080, 1e-11);
}

/// 622 of 4,096 block pairs at 4,096 tokens, blocks of 64 and 3 random ones.
TEST(BigBird, CostsWhatTheFormulaSays) {
  const Index length = 4096, size = 64;
  const BigBird bird(RandomBlocks::draw({.block_size = size, .blocks = 64, .random = 3}));
  const Plans plans = plans_of(bird, length);
  const Explanation e = explain({.q_len = length, .k_len = length}, {}, None{}, &plans);
  EXPECT_EQ(e.pairs, 622 * size * size);
  EXPECT_EQ(e.forward_flops, 4.0 * 64 * 622 * 64 * 64);
}

TEST(BigBird, RefusesASequenceBeyondItsTable) {
  EXPECT_EQ(check::refusal([] { (void)BigBird(table).plan(71, 0); }),
            "BigBird: blocks of the table is 14, expected at least 15 for 71 tokens");
  EXPECT_EQ(
      check::refusal([] { check_mask(BigBird(table), check::context_of(71, 0, 2)); }),
      "BigBird: blocks * block_size is 70, expected at least 71, the tokens of sequence 0; draw a table "
      "for the longest sequence");
  EXPECT_EQ(check::refusal([] { check_mask(BigBird(table), check::context_of(70, 0, 3)); }),
            "BigBird: heads is 2, expected 3; 1 shares a table");
  Context cross = check::context_of(70, 0, 2);
  cross.key_rows = {0, 60};
  EXPECT_EQ(check::refusal([&] { check_mask(BigBird(table), cross); }),
            "BigBird: number of queries is 70, expected 60; Big Bird is self-attention");
}

}  // namespace
}  // namespace headwise::mask::big_bird_test
