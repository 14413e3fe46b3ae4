#include "report/work.hpp"

#include <headwise/core/error.hpp>

#include <gtest/gtest.h>

namespace headwise::report {
namespace {

bool sees(Pattern pattern, Index query, Index key) {
  if (pattern == Pattern::dense) return true;
  if (pattern == Pattern::windowed) return key <= query && query - key < 256;
  return key <= query;
}

TEST(Work, PairsAreWhatADoubleLoopCounts) {
  for (const Pattern pattern : patterns) {
    for (const Index seq_len : {0, 1, 63, 64, 65, 255, 256, 257, 300, 513, 700}) {
      Index count = 0;
      for (Index query = 0; query < seq_len; ++query)
        for (Index key = 0; key < seq_len; ++key) count += sees(pattern, query, key);
      EXPECT_EQ(pairs(pattern, seq_len), count) << name_of(pattern) << ", " << seq_len << " tokens";
    }
  }
}

TEST(Work, LongLengthsDoNotOverflow) {
  EXPECT_EQ(pairs(Pattern::dense, 1 << 20), Index(1) << 40);
  EXPECT_EQ(pairs(Pattern::causal, 16384), 134225920);
  EXPECT_EQ(pairs(Pattern::windowed, 16384), 4161664);
}

TEST(Work, BackwardIsFiveProductsWhereForwardIsTwo) {
  EXPECT_EQ(forward_flops(Pattern::dense, 10, 1), 4.0 * 64 * 100);
  EXPECT_EQ(backward_flops(Pattern::dense, 10, 3), 3 * 10.0 * 64 * 100);
}

TEST(Work, RefusesANegativeLength) {
  try {
    (void)pairs(Pattern::causal, -1);
    FAIL() << "counted the pairs of a negative length";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "pairs: seq_len is -1, expected zero or more");
  }
}

}  // namespace
}  // namespace headwise::report
