#include <headwise/attention/attend_backward.hpp>
#include <headwise/mask/big_bird.hpp>
#include <headwise/score/repeated_blocks.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/pattern_laws.hpp"

namespace headwise::score {
namespace {

/// Rows that draw a block of the window, an end, and the same block twice; block rows of 3 tokens, the last
/// short.
const mask::RandomBlocks table(3, 8, 2, {-1, -1, 2, 7, 0, 0, 6, 6, 2, 1, 5, 4, 3, 7, -1, -1,  //
                                         -1, -1, 4, 5, 5, 7, 1, 0, 6, 1, 0, 7, 2, 3, -1, -1});

TEST(RepeatedBlocks, CountAsOftenAsThePlanWithRepeats) {
  const Index length = 23;
  const auto query = check::random(length, 5, 1), key = check::random(length, 5, 2),
             value = check::random(length, 3, 3), d = check::random(length, 3, 4);
  const check::AnyMask all = [](Index, Index) { return true; };
  for (Index head = 0; head < 2; ++head) {
    std::vector<Index> own;
    for (Index row = 0; row < 8; ++row)
      for (Index i = 0; i < 2; ++i) own.push_back(table.at(head, row, i));
    const mask::RandomBlocks one(3, 8, 1, own);
    const mask::BigBird bird(one);
    const Plans plans{{bird.plan_with_repeats(length, 0)}};
    const auto expected = attend_over(plans, query, key, value, AttendOptions{}, all);
    const auto got = attend_with_lse(query, key, value, bird, RepeatedBlocks(one));
    EXPECT_TRUE(check::near(got.output, expected.output, 1e-12));
    EXPECT_TRUE(check::near(got.lse, expected.lse, 1e-12));
    const auto want = attend_over_backward(plans, query, key, value, expected, d, AttendOptions{}, all);
    const auto gradients = attend_backward(query, key, value, got, d, bird, RepeatedBlocks(one));
    EXPECT_TRUE(check::near(gradients.query, want.query, 1e-12));
    EXPECT_TRUE(check::near(gradients.key, want.key, 1e-12));
    EXPECT_TRUE(check::near(gradients.value, want.value, 1e-12));
  }
}

TEST(RepeatedBlocks, RefuseWhatTheirTableRefuses) {
  const auto x = check::random(30, 4, 1);
  EXPECT_EQ(check::refusal(
                [&] { (void)attend(x, x, x, {.heads = 2}, mask::BigBird(table), RepeatedBlocks(table)); }),
            "BigBird: blocks * block_size is 24, expected at least 30, the tokens of sequence 0; draw a "
            "table for the longest sequence");
  EXPECT_EQ(
      check::refusal([&] { check_score(RepeatedBlocks(table), check::context_of(30, 0, 2)); }),
      "RepeatedBlocks: blocks * block_size is 24, expected at least 30, the tokens of sequence 0; draw a "
      "table for the longest sequence");
}

}  // namespace
}  // namespace headwise::score
