#include <headwise/attention/explain.hpp>
#include <headwise/attention/merge.hpp>
#include <headwise/attention/plans.hpp>
#include <headwise/mask/blockwise.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/heads.hpp"
#include "support/mask_laws.hpp"
#include "support/pattern_laws.hpp"

namespace headwise::mask {
namespace {

std::vector<Context> contexts_of(std::vector<Index> lengths, Index heads) {
  std::vector<Context> result;
  for (const Index length : lengths)
    for (Index head = 0; head < heads; ++head) result.push_back(check::context_of(length, head, heads, 5));
  return result;
}

struct Permutations {
  static std::vector<Blockwise> masks() {
    return {Blockwise({0}), Blockwise({1, 2, 0}), Blockwise({3, 1, 0, 2, 4}),
            Blockwise::shifted(4, {0, 1, 3})};
  }
  static std::vector<Context> contexts() { return contexts_of({1, 9, 64, 70}, 3); }
  static Tile domain(const Context& context) { return laws::rows_of(context); }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(Blockwise, MaskLaws, Permutations);

check::AnyMask definition(Index length, std::vector<Index> permutation) {
  const Index blocks = Index(permutation.size());
  const Index size = std::max<Index>(1, (length + blocks - 1) / blocks);
  return [=](Index q, Index k) { return permutation[std::size_t(q / size)] == k / size; };
}

TEST(Blockwise, EachBlockSeesTheBlockOfThePermutation) {
  namespace hw = headwise;
  // [docs mask/blockwise]
  const hw::mask::Blockwise blocks({1, 2, 0});
  const std::string picture = hw::mask::to_string(blocks, 6, 6);
  // "..##..\n"
  // "..##..\n"
  // "....##\n"
  // "....##\n"
  // "##....\n"
  // "##....\n"
  // [docs end]
  EXPECT_EQ(picture, "..##..\n..##..\n....##\n....##\n##....\n##....\n");
}

TEST(Blockwise, ListsExactlyItsPairsForEveryLength) {
  for (const std::vector<Index>& permutation :
       {std::vector<Index>{0}, {1, 0}, {2, 0, 1}, {4, 2, 0, 1, 3, 6, 5}}) {
    check::expect_plan_lists([&](Index n) { return Blockwise(permutation).plan(n); },
                             [&](Index n) { return definition(n, permutation); });
  }
}

TEST(Blockwise, OverItsPlanIsDenseAttention) {
  for (const Index length : {1, 9, 65}) {
    const std::vector<Index> permutation{1, 3, 0, 2};
    check::PatternLaws(length, Blockwise(permutation).plan(length), definition(length, permutation))
        .expect_all();
  }
}

TEST(Blockwise, HasThePublishedNumbers) {
  const auto one = check::attend_to_waves(Blockwise::shifted(3, {1}));
  EXPECT_NEAR(check::checksum(one.output), -0.866640937866, 1e-11);
  EXPECT_NEAR(one.lse(5, 0), 1.409312064008, 1e-11);
  const auto two = check::attend_to_waves(Blockwise::shifted(3, {2}));
  EXPECT_NEAR(check::checksum(two.output), -0.395123941316, 1e-11);
  const auto none = check::attend_to_waves(Blockwise::shifted(3, {0}));
  EXPECT_NEAR(check::checksum(none.output), 1.194481802034, 1e-11);
  EXPECT_NEAR(check::checksum(merge(none, merge(one, two)).output), 0.620835889925, 1e-11);  // all pairs
}

/// Heads with shifts of their own, ragged sequences, grouped keys: as mask and as plans.
TEST(Blockwise, ServesHeadsAndRaggedBatches) {
  const auto query = check::random(30, 8, 1), key = check::random(30, 4, 2), value = check::random(30, 4, 3);
  const Blockwise blocks = Blockwise::shifted(3, {0, 1});
  const RaggedRows rows = RaggedRows::from_lengths({13, 0, 17});
  const AttendOptions options{.heads = 2, .kv_heads = 1, .query_rows = rows};
  reference::Matrix expected(30, 8);
  for (const Range& r : {Range{0, 13}, Range{13, 30}}) {
    expected.middleRows(r.begin, r.size()) = reference::attention(
        query.middleRows(r.begin, r.size()), key.middleRows(r.begin, r.size()),
        value.middleRows(r.begin, r.size()), 2, 1, [&](Index head) {
          reference::Problem problem;
          problem.allows =
              definition(r.size(), head == 0 ? std::vector<Index>{0, 1, 2} : std::vector<Index>{1, 2, 0});
          return problem;
        });
  }
  EXPECT_TRUE(check::near(attend(query, key, value, options, blocks), expected, 1e-12));
  const check::AnyMask all = [](Index, Index) { return true; };
  EXPECT_TRUE(check::near(attend_over(plans_of(blocks, rows, 2), query, key, value, options, all).output,
                          expected, 1e-12));
}

TEST(Blockwise, CostsWhatTheFormulaSays) {
  const Index length = 1536, blocks = 3;
  const AttendOptions options{.heads = 3};
  const Explanation e =
      explain({.q_len = length, .k_len = length}, options, Blockwise::shifted(blocks, {0, 1, 2}));
  EXPECT_EQ(e.pairs, 3 * length * length / blocks);
  EXPECT_EQ(e.forward_flops, 4.0 * 64 * double(length * length));
}

TEST(Blockwise, ABlockThatLooksPastTheEndSeesNothing) {
  // 9 tokens in 4 blocks of 3: the last block is empty.
  EXPECT_EQ(
      to_string(Blockwise({3, 0, 1, 2}), 9, 9),
      ".........\n.........\n.........\n###......\n###......\n###......\n...###...\n...###...\n...###...\n");
}

TEST(Blockwise, RefusesWhatIsNoPermutation) {
  EXPECT_EQ(check::refusal([] {
              (void)Blockwise({0, 0, 1});
            }),
            "Blockwise: permutations[0][1] is 0 again, expected each block once");
  EXPECT_EQ(check::refusal([] {
              (void)Blockwise({0, 3, 1});
            }),
            "Blockwise: permutations[0][1] is 3, expected 0 to 2");
  EXPECT_EQ(check::refusal([] {
              (void)Blockwise::per_head({{0, 1}, {0}});
            }),
            "Blockwise: permutations[1] size is 1, expected 2; all heads cut into as many blocks");
  EXPECT_EQ(check::refusal([] { (void)Blockwise({}); }),
            "Blockwise: blocks is 0, expected a positive number");
  EXPECT_EQ(check::refusal([] {
              (void)to_dense(Blockwise::shifted(2, {0, 1}), 4, 4, {.heads = 3});
            }),
            "Blockwise: number of permutations is 2, expected 1 or 3 (heads)");
  EXPECT_EQ(check::refusal([] {
              (void)to_dense(Blockwise({0, 1}), 3, 4);
            }),
            "Blockwise: number of queries is 3, expected 4; blocks of queries look at blocks of keys of one "
            "sequence");
}

}  // namespace
}  // namespace headwise::mask
