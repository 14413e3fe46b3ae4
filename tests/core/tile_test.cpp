#include <headwise/core/tile.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace headwise {
namespace {

std::vector<Index> members(Range r) {
  std::vector<Index> keys;
  for (Index i = r.begin; i < r.end; ++i) keys.push_back(i);
  return keys;
}

TEST(Range, IsHalfOpen) {
  constexpr Range r{2, 5};
  EXPECT_EQ(r.size(), 3);
  EXPECT_FALSE(r.empty());
  EXPECT_FALSE(r.contains(1));
  EXPECT_TRUE(r.contains(2));
  EXPECT_TRUE(r.contains(4));
  EXPECT_FALSE(r.contains(5));
}

TEST(Range, IsEmptyWhenItEndsAtOrBeforeItsBegin) {
  for (Range r : {Range{}, Range{3, 3}, Range{3, 1}}) {
    EXPECT_TRUE(r.empty());
    EXPECT_EQ(r.size(), 0);
    EXPECT_FALSE(r.contains(r.begin));
  }
}

TEST(Range, ContainsAnotherWhenItHasAllItsMembers) {
  for (Index a = 0; a < 5; ++a) {
    for (Index b = 0; b < 5; ++b) {
      for (Index c = 0; c < 5; ++c) {
        for (Index d = 0; d < 5; ++d) {
          bool all = true;
          for (Index i : members({c, d})) all = all && a <= i && i < b;
          EXPECT_EQ((Range{a, b}.contains(Range{c, d})), all) << a << b << c << d;
        }
      }
    }
  }
}

TEST(Range, IntersectsToTheCommonMembers) {
  for (Index a = 0; a < 5; ++a) {
    for (Index b = 0; b < 5; ++b) {
      for (Index c = 0; c < 5; ++c) {
        for (Index d = 0; d < 5; ++d) {
          std::vector<Index> common;
          for (Index i : members({a, b}))
            if (c <= i && i < d) common.push_back(i);
          const Range r = intersect(Range{a, b}, Range{c, d});
          EXPECT_EQ(members(r), common) << a << b << c << d;
          EXPECT_GE(r.end, r.begin) << "an empty intersection has a size of zero by subtraction, too";
        }
      }
    }
  }
}

TEST(Range, ComparesItsEnds) {
  EXPECT_EQ((Range{1, 2}), (Range{1, 2}));
  EXPECT_NE((Range{1, 2}), (Range{1, 3}));
  static_assert(intersect(Range{0, 4}, Range{2, 9}) == Range{2, 4});
}

}  // namespace
}  // namespace headwise
