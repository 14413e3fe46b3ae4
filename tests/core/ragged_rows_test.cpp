#include <headwise/core/ragged_rows.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace headwise::ragged_rows_test {
namespace {

template <class F>
std::string message_of(F&& f) {
  try {
    f();
    return "accepted";
  } catch (const ShapeError& error) {
    return error.what();
  }
}

TEST(RaggedRows, GiveEachSequenceItsRows) {
  const RaggedRows rows = RaggedRows::from_lengths({3, 0, 2});
  EXPECT_EQ(rows.sequences(), 3);
  EXPECT_EQ(rows.rows(), 5);
  EXPECT_EQ(rows[0], (Range{0, 3}));
  EXPECT_EQ(rows[1], (Range{3, 3}));
  EXPECT_EQ(rows[2], (Range{3, 5}));
  EXPECT_EQ(rows.offsets(), (std::vector<Index>{0, 3, 3, 5}));
  EXPECT_FALSE(rows.whole());
}

TEST(RaggedRows, AreTheSameFromOffsetsFromLengthsAndUniform) {
  EXPECT_EQ(RaggedRows::from_offsets({0, 4, 8, 12}).offsets(), RaggedRows::uniform(3, 4).offsets());
  EXPECT_EQ(RaggedRows::from_lengths(std::vector<Index>{4, 4, 4}).offsets(),
            RaggedRows::uniform(3, 4).offsets());
}

TEST(RaggedRows, B119_KeepSequencesWithoutRows) {
  const RaggedRows rows = RaggedRows::from_lengths({0, 2});
  EXPECT_EQ(rows.sequences(), 2);
  EXPECT_TRUE(rows[0].empty());
  EXPECT_EQ(rows[1], (Range{0, 2}));
  const RaggedRows all_empty = RaggedRows::uniform(3, 0);
  EXPECT_EQ(all_empty.sequences(), 3);
  EXPECT_EQ(all_empty.rows(), 0);
}

TEST(RaggedRows, AllowABatchWithoutSequences) {
  for (const RaggedRows& rows : {RaggedRows::from_offsets({0}),
                                 RaggedRows::from_lengths(std::vector<Index>{}), RaggedRows::uniform(0, 7)}) {
    EXPECT_EQ(rows.sequences(), 0);
    EXPECT_EQ(rows.rows(), 0);
    EXPECT_FALSE(rows.whole()) << "no sequence is not the same as no border";
  }
}

TEST(RaggedRows, AreOneSequenceWhenNoBorderIsGiven) {
  const RaggedRows whole;
  EXPECT_TRUE(whole.whole());
  EXPECT_EQ(whole.sequences(), 1);
  const RaggedRows said = whole.over(7, "query");
  EXPECT_FALSE(said.whole());
  EXPECT_EQ(said.offsets(), (std::vector<Index>{0, 7}));
  EXPECT_EQ(whole.over(0, "query").offsets(), (std::vector<Index>{0, 0}));
}

TEST(RaggedRows, MustAddUpToTheRowsOfTheirMatrix) {
  const RaggedRows rows = RaggedRows::from_lengths({3, 2});
  EXPECT_EQ(rows.over(5, "key").offsets(), rows.offsets());
  EXPECT_EQ(message_of([&] { (void)rows.over(6, "key"); }),
            "key rows is 6, expected 5; the lengths of its sequences must add up to its rows");
}

TEST(RaggedRows, B133_RefuseNegativeAndReversedOffsets) {
  EXPECT_EQ(message_of([] {
              (void)RaggedRows::from_offsets({-8, 8});
            }),
            "RaggedRows: offsets[0] is -8, expected 0");
  EXPECT_EQ(message_of([] {
              (void)RaggedRows::from_offsets({8, 4});
            }),
            "RaggedRows: offsets[0] is 8, expected 0");
  EXPECT_EQ(message_of([] {
              (void)RaggedRows::from_offsets({0, 8, 4});
            }),
            "RaggedRows: offsets[2] is 4, expected at least 8; offsets never decrease");
  EXPECT_EQ(message_of([] {
              (void)RaggedRows::from_offsets({0, -1});
            }),
            "RaggedRows: offsets[1] is -1, expected at least 0; offsets never decrease");
  EXPECT_EQ(message_of([] { (void)RaggedRows::from_offsets({}); }),
            "RaggedRows: offsets is empty, expected sequences + 1 numbers");
}

TEST(RaggedRows, RefuseNegativeLengthsAndCounts) {
  EXPECT_EQ(message_of([] {
              (void)RaggedRows::from_lengths({2, -1});
            }),
            "RaggedRows: lengths[1] is -1, expected zero or more");
  EXPECT_EQ(message_of([] { (void)RaggedRows::uniform(-1, 2); }),
            "RaggedRows: count is -1, expected zero or more");
  EXPECT_EQ(message_of([] { (void)RaggedRows::uniform(2, -1); }),
            "RaggedRows: length is -1, expected zero or more");
  EXPECT_EQ(message_of([] { (void)RaggedRows::uniform(0, -1); }),
            "RaggedRows: length is -1, expected zero or more");
}

TEST(RaggedRows, RefuseLengthsWhoseSumDoesNotFit) {
  const Index half = std::numeric_limits<Index>::max() / 2 + 1;
  EXPECT_EQ(message_of([&] {
              (void)RaggedRows::from_lengths({half, half});
            }),
            "RaggedRows: sum of lengths is beyond the range of Index, expected a number of rows");
  EXPECT_EQ(RaggedRows::from_lengths({half, half - 1}).rows(), std::numeric_limits<Index>::max());
}

}  // namespace
}  // namespace headwise::ragged_rows_test
