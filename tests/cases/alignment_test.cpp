// Public reports about where queries stand among keys: diagonals, offsets, windows, caches.
#include "support/attention_case.hpp"

namespace headwise {
namespace {

using check::AnyMask;
using check::column;
using check::expect_output;
using check::zeros;

const AnyMask causal = [](Index q, Index k) { return k <= q; };
const AnyMask everything = [](Index, Index) { return true; };

TEST(Alignment, B23_OneQueryOverACache) {
  expect_output(zeros(1), zeros(3), column({1, 2, 4}), column({2.33333333}), {.query_offset = align_last},
                causal);
  expect_output(zeros(1), zeros(3), column({1, 2, 4}), column({1}), {.query_offset = 0}, causal);
  EXPECT_THROW((void)attend(zeros(1), zeros(3), zeros(3), causal), ShapeError);
}

TEST(Alignment, B25_LastWithLast) {
  expect_output(zeros(3), zeros(5), column({1, 2, 4, 8, 16}), column({2.33333333, 3.75, 6.2}),
                {.query_offset = align_last}, causal);
}

TEST(Alignment, B26_TheSameRuleWhicheverSideIsLonger) {
  expect_output(zeros(2), zeros(3), column({1, 2, 4}), column({1.5, 2.33333333}),
                {.query_offset = align_last}, causal);
  expect_output(zeros(3), zeros(2), column({1, 2}), column({0, 1, 1.5}), {.query_offset = align_last},
                causal);
  expect_output(zeros(2), zeros(3), column({1, 2, 4}), column({1, 1.5}), {.query_offset = 0}, causal);
  expect_output(zeros(3), zeros(2), column({1, 2}), column({1, 1.5, 1.5}), {.query_offset = 0}, causal);
}

TEST(Alignment, B28_AChunkOverACache) {
  expect_output(zeros(2), zeros(4), column({1, 2, 4, 8}), column({2.33333333, 3.75}), {.query_offset = 2},
                causal);
}

TEST(Alignment, B29_CrossAttentionReadsAllKeys) {
  expect_output(zeros(1), zeros(4), column({1, 2, 4, 8}), column({3.75}), {.query_offset = 0}, everything);
}

TEST(Alignment, B43_CausalAndPaddingTogether) {
  const AnyMask valid = [](Index q, Index k) { return k <= q && (k == 1 || k == 2 || k == 5); };
  expect_output(zeros(7), zeros(7), column({1, 2, 4, 8, 16, 32, 64}),
                column({0, 2, 3, 3, 3, 12.66666667, 12.66666667}), {}, valid);
}

TEST(Alignment, B44_TheMaskReachesTheNewestKey) {
  const AnyMask without_newest = [](Index, Index k) { return k != 2; };
  expect_output(zeros(1), zeros(3), column({1, 3, 100}), column({2}), {.query_offset = 2}, without_newest);
}

TEST(Alignment, B46_CausalAloneIsEnough) {
  expect_output(zeros(2), zeros(2), column({1, 3}), column({1, 2}), {}, causal);
}

TEST(Alignment, B47_AMaskServesAnyLength) {
  expect_output(zeros(3), zeros(3), column({1, 2, 4}), column({1, 1.5, 2.33333333}), {}, causal);
}

TEST(Alignment, B52_PrefillAndDecodeSeeTheSameWindow) {
  const AnyMask window = [](Index q, Index k) { return k <= q && q - k < 2; };
  const auto value = column({1, 2, 4, 8, 16});
  expect_output(zeros(5), zeros(5), value, column({1, 1.5, 3, 6, 12}), {}, window);
  expect_output(zeros(1), zeros(5), value, column({12}), {.query_offset = 4}, window);
}

TEST(Alignment, B73_LeftPaddingReachesPrefillAndDecode) {
  const AnyMask real = [](Index q, Index k) { return k <= q && k >= 1; };
  expect_output(zeros(2), zeros(3), column({100, 1, 3}), column({1, 2}), {.query_offset = 1}, real);
  expect_output(zeros(1), zeros(4), column({100, 1, 3, 5}), column({3}), {.query_offset = 3}, real);
}

TEST(Alignment, B77_EachTokenSeesAsManyKeysOfMemory) {
  const AnyMask memory_and_self = [](Index q, Index k) { return k <= q && q - k < 3; };
  expect_output(zeros(2), zeros(4), column({1, 2, 4, 8}), column({2.33333333, 4.66666667}),
                {.query_offset = 2}, memory_and_self);
}

TEST(Alignment, B85_ALengthThatIsNoMultipleOfTheWindow) {
  const AnyMask local_and_global = [](Index q, Index k) {
    return q == 0 || k == 0 || (q - k <= 1 && k - q <= 1);
  };
  const auto expected = column({6.2, 2.33333333, 3.75, 7.25, 8.33333333});
  expect_output(zeros(5), zeros(5), column({1, 2, 4, 8, 16}), expected, {}, local_and_global);
  const AnyMask padded = [&](Index q, Index k) { return k < 5 && local_and_global(q, k); };
  const auto longer =
      attend(zeros(8), zeros(8), column({1, 2, 4, 8, 16, 900, 900, 900}), AttendOptions{}, padded);
  EXPECT_TRUE(check::near(longer.topRows(5), expected, 1e-8));
}

TEST(Alignment, B103_ABlockIsSeenWhenItsLastKeyIsPast) {
  const AnyMask whole_blocks = [](Index q, Index block) { return 2 * block + 1 <= q; };
  expect_output(zeros(4), zeros(2), column({2, 6}), column({0, 2, 2, 4}), {.query_offset = 0}, whole_blocks);
}

TEST(Alignment, B109_ATestIsAskedInEveryTile) {
  Matrix<double> value = Matrix<double>::Ones(64, 1);
  value(1, 0) = 1000;
  const AnyMask not_one = [](Index, Index k) { return k != 1; };
  expect_output(zeros(64), zeros(64), value, Matrix<double>::Ones(64, 1), {}, not_one);
}

TEST(Alignment, B110_BlocksOfAPatternAreNotTiles) {
  const AnyMask own_block = [](Index q, Index k) { return q / 2 == k / 2; };
  expect_output(zeros(4), zeros(4), column({1, 2, 4, 8}), column({1.5, 1.5, 6, 6}), {}, own_block);
}

}  // namespace
}  // namespace headwise
