#include <headwise/position/positions.hpp>

#include <gtest/gtest.h>

#include "support/thrown.hpp"

namespace headwise::position {
namespace {

using check::thrown;

TEST(Positions, ConsecutiveOnesStartWhereTheCacheEnds) {
  EXPECT_EQ(consecutive(3), (std::vector<Position>{0, 1, 2}));
  EXPECT_EQ(consecutive(3, 117), (std::vector<Position>{117, 118, 119}));
  EXPECT_EQ(consecutive(2, -1), (std::vector<Position>{-1, 0}));
  EXPECT_TRUE(consecutive(0, 5).empty());
}

TEST(Positions, EverySequenceOfABatchCountsForItself) {
  EXPECT_EQ(within_sequences(RaggedRows::from_lengths({2, 0, 3})), (std::vector<Position>{0, 1, 0, 1, 2}));
  EXPECT_EQ(within_sequences(RaggedRows::uniform(2, 2), 7), (std::vector<Position>{7, 8, 7, 8}));
}

TEST(Positions, ABatchWithoutBordersHasNoLength) {
  EXPECT_EQ(thrown<ShapeError>([] { (void)within_sequences(RaggedRows{}); }),
            "within_sequences: rows has no borders, expected them; use consecutive");
}

TEST(Positions, FitThirtyTwoBits) {
  EXPECT_EQ(consecutive(1, 2147483646).back(), 2147483646);
  EXPECT_EQ(thrown<ShapeError>([] { (void)consecutive(2, 2147483647); }),
            "consecutive: first is 2147483647, expected positions within 32 bits");
  EXPECT_EQ(thrown<ShapeError>([] { (void)consecutive(-1); }),
            "consecutive: count is -1, expected zero or more");
}

}  // namespace
}  // namespace headwise::position
