#include <headwise/kernel/plan.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace headwise {
namespace {

std::vector<Index> entries(const RowList& list) {
  std::vector<Index> rows;
  for (Index i = 0; i < list.size(); ++i) rows.push_back(list[i]);
  return rows;
}

TEST(RowList, ListsContiguousAffineAndExplicitRows) {
  EXPECT_EQ(entries(RowList::contiguous({3, 6})), (std::vector<Index>{3, 4, 5}));
  EXPECT_EQ(entries(RowList::affine(1, 4, 3)), (std::vector<Index>{1, 5, 9}));
  EXPECT_EQ(entries(RowList::affine(9, -3, 4)), (std::vector<Index>{9, 6, 3, 0}));
  EXPECT_EQ(entries(RowList::of({7, 2, 2})), (std::vector<Index>{7, 2, 2}));
  EXPECT_TRUE(entries(RowList()).empty());
  EXPECT_TRUE(RowList::contiguous({3, 6}).is_contiguous());
  EXPECT_FALSE(RowList::affine(1, 4, 3).is_contiguous());
  EXPECT_FALSE(RowList::of({1, 2, 3}).is_contiguous());
}

TEST(RowList, BoundsAreTheSmallestRangeAroundAPart) {
  EXPECT_EQ(RowList::contiguous({3, 60}).bounds(2, 5), (Range{5, 8}));
  EXPECT_EQ(RowList::affine(9, -3, 4).bounds(1, 3), (Range{3, 7}));
  EXPECT_EQ(RowList::of({7, 2, 5}).bounds(0, 3), (Range{2, 8}));
  EXPECT_EQ(RowList::of({7, 2, 5}).bounds(1, 1), (Range{}));
}

TEST(RowList, RefusesAStrideOfZeroAndANegativeCount) {
  try {
    (void)RowList::affine(0, 0, 3);
    FAIL() << "accepted a stride of zero";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "RowList: stride is 0, expected a number other than zero");
  }
  EXPECT_THROW((void)RowList::affine(0, 1, -1), ShapeError);
}

TEST(Plans, FindThePlanOfASequenceAndAHead) {
  Plans plans;
  plans.heads = 2;
  plans.sequences = 3;
  for (Index i = 0; i < 6; ++i) plans.plans.push_back(Plan::dense(i, i));
  EXPECT_EQ(plans.at(2, 1).items[0].queries.size(), 5);
  plans.heads = plans.sequences = 1;
  EXPECT_EQ(plans.at(2, 1).items[0].queries.size(), 0);
}

}  // namespace
}  // namespace headwise
