#include <headwise/attention/explain.hpp>
#include <headwise/attention/plans.hpp>
#include <headwise/mask/algebra.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/fixed.hpp>
#include <headwise/mask/local_block.hpp>

#include <gtest/gtest.h>

#include "support/mask_laws.hpp"
#include "support/pattern_laws.hpp"

namespace headwise::mask {
namespace {

struct FixedSamples {
  static auto masks() {
    return std::array{Fixed{.stride = 1, .summaries = 1},
                      Fixed{.stride = 4, .summaries = 1},
                      Fixed{.stride = 5, .summaries = 2, .skip = 2},
                      Fixed{.stride = 7, .summaries = 7},
                      Fixed{.stride = 64, .summaries = 8, .skip = 56},
                      Fixed{.stride = 66, .summaries = 64}};
  }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(Fixed, MaskLaws, FixedSamples);

struct FixedHeads {
  static auto masks() {
    return std::array{FixedPerHead{.stride = 8, .summaries = 2, .sub_blocks = 4},
                      FixedPerHead{.stride = 9, .summaries = 4, .sub_blocks = 2}};
  }
  static std::vector<Context> contexts() {
    std::vector<Context> result;
    for (Index head = 0; head < 4; ++head) result.push_back(check::context_of(70, head, 4));
    return result;
  }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(FixedPerHead, MaskLaws, FixedHeads);

check::AnyMask summaries(Index stride, Index count, Index skip = 0) {
  return [=](Index, Index k) { return k % stride >= stride - skip - count && k % stride < stride - skip; };
}

check::AnyMask merged(Index stride, Index count) {
  return
      [=, far = summaries(stride, count)](Index q, Index k) { return q / stride == k / stride || far(q, k); };
}

TEST(Fixed, TheLastTokensOfEveryBlockAreSeenByAll) {
  namespace hw = headwise;
  // [docs mask/fixed]
  const hw::Index block = 4;
  const auto own = hw::mask::LocalBlock{.query_block = block, .memory = 0};
  const auto summaries = hw::mask::Fixed{.stride = block, .summaries = 1};
  const std::string picture = hw::mask::to_string((own || summaries) && hw::mask::Causal{}, 10, 10);
  // "#.........\n"
  // "##........\n"
  // "###.......\n"
  // "####......\n"
  // "...##.....\n"
  // "...###....\n"
  // "...####...\n"
  // "...#####..\n"
  // "...#...##.\n"
  // "...#...###\n"
  // [docs end]
  EXPECT_EQ(picture,
            "#.........\n##........\n###.......\n####......\n...##.....\n...###....\n...####...\n...#####..\n"
            "...#...##.\n...#...###\n");
}

TEST(Fixed, ListsExactlyItsPairsForEveryLength) {
  for (const auto& [stride, count] :
       {std::pair<Index, Index>{1, 1}, {4, 1}, {5, 3}, {6, 6}, {64, 8}, {71, 2}}) {
    SCOPED_TRACE(std::to_string(stride) + ", " + std::to_string(count));
    const Fixed fixed{.stride = stride, .summaries = count};
    const auto far = summaries(stride, count), both = merged(stride, count);
    check::expect_plan_lists([&](Index n) { return fixed.plan(n); }, [&](Index) { return far; });
    check::expect_plan_lists([&](Index n) { return fixed.plan_with_own_block(n); },
                             [&](Index) { return both; });
  }
  const FixedPerHead heads{.stride = 6, .summaries = 2, .sub_blocks = 3};
  for (Index head = 0; head < 6; ++head) {
    check::expect_plan_lists([&](Index n) { return heads.plan(n, head); },
                             [&](Index) { return summaries(6, 2, head % 3 * 2); });
  }
}

TEST(Fixed, OverItsPlanIsDenseAttention) {
  const check::AnyMask causal = [](Index q, Index k) { return k <= q; };
  for (const Index length : {1, 5, 12, 65}) {
    const Fixed fixed{.stride = 5, .summaries = 2};
    const auto far = summaries(5, 2), both = merged(5, 2);
    check::PatternLaws(length, fixed.plan(length), far).expect_all();
    check::PatternLaws(length, fixed.plan_with_own_block(length), both).expect_all();
    check::PatternLaws(
        length, fixed.plan_with_own_block(length),
        [&](Index q, Index k) { return causal(q, k) && both(q, k); }, causal)
        .expect_all();
  }
}

TEST(Fixed, HasThePublishedNumbers) {
  const auto far = check::attend_to_waves(Fixed{.stride = 4, .summaries = 1} && Causal{});
  EXPECT_NEAR(check::checksum(far.output), 0.872233743769, 1e-11);
  for (Index i : {0, 1, 2}) EXPECT_TRUE(far.output.row(i).isZero(0)) << "row " << i << " sees no summary";
  const auto near = check::attend_to_waves(check::answers_of(LocalBlock{4, 0} && Causal{}, 12));
  EXPECT_NEAR(check::checksum(near.output), 2.376536091339, 1e-11);
  EXPECT_NEAR(near.lse(5, 0), 1.466845240717, 1e-11);
  const auto both =
      check::attend_to_waves(check::answers_of((LocalBlock{4, 0} || Fixed{4, 1}) && Causal{}, 12));
  EXPECT_NEAR(check::checksum(both.output), 2.398151861387, 1e-11);
  EXPECT_NEAR(both.lse(5, 0), 1.712552989868, 1e-11);
}

TEST(Fixed, CostsWhatTheFormulaSays) {
  const auto pairs = [](Index stride, Index count) {
    const Plans plans = plans_of(Fixed{.stride = stride, .summaries = count}, 1024);
    return explain({.q_len = 1024, .k_len = 1024}, {}, Causal{}, &plans).pairs;
  };
  EXPECT_EQ(pairs(32, 4), 63808);
  EXPECT_EQ(pairs(128, 8), 28960);
  EXPECT_EQ(to_dense(LocalBlock{32, 0} && Causal{}, 1024, 1024).cast<Index>().sum(), 16896);
  EXPECT_EQ(to_dense(LocalBlock{128, 0} && Causal{}, 1024, 1024).cast<Index>().sum(), 66048);
}

/// The local layer feeds the summary layer, along the residual path; the other order leaves holes.
TEST(Fixed, ReachesEverythingWhenTheLocalLayerComesFirst) {
  for (const Index length : {16, 20, 64, 67}) {
    for (const Index stride : {4, 6, 8}) {
      const Eigen::MatrixXi same = Eigen::MatrixXi::Identity(length, length);
      const Eigen::MatrixXi a =
          to_dense(LocalBlock{stride, 0} && Causal{}, length, length).cast<int>() + same;
      const Eigen::MatrixXi b = to_dense(Fixed{stride, 1} && Causal{}, length, length).cast<int>() + same;
      const Eigen::MatrixXi good = b * a, bad = a * b;
      Index holes = 0;
      for (Index q = 0; q < length; ++q) {
        for (Index k = 0; k <= q; ++k) {
          ASSERT_GT(good(q, k), 0) << length << ", " << stride << ", pair " << q << ", " << k;
          holes += bad(q, k) == 0 ? 1 : 0;
        }
      }
      EXPECT_GT(holes, 0) << length << ", " << stride;
    }
  }
}

TEST(Fixed, RefusesSummariesThatDoNotFitTheBlock) {
  EXPECT_EQ(check::refusal([] { (void)to_dense(Fixed{.stride = 4, .summaries = 5}, 3, 3); }),
            "Fixed: skip + summaries is 5, expected at most 4 (stride); summaries lie within one block");
  EXPECT_EQ(check::refusal([] { (void)Fixed{.stride = 4, .summaries = 0}.plan(8); }),
            "Fixed: summaries is 0, expected a positive number");
  EXPECT_EQ(
      check::refusal([] { (void)FixedPerHead{.stride = 8, .summaries = 4, .sub_blocks = 3}.plan(8, 0); }),
      "FixedPerHead: sub_blocks * summaries is 12, expected at most 8 (stride); each head has its own part "
      "of the block");
  EXPECT_EQ(check::refusal([] {
              const FixedPerHead mask{.stride = 8, .summaries = 2, .sub_blocks = 4};
              (void)to_dense(mask, 8, 8, {.head = 0, .heads = 6});
            }),
            "FixedPerHead: heads is 6, expected a multiple of 4 (sub_blocks)");
}

}  // namespace
}  // namespace headwise::mask
