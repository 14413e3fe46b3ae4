#include <headwise/layer/rows.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/thrown.hpp"

#include <vector>

namespace headwise {
namespace {

using check::near;
using check::random;
using check::thrown;

TEST(Embed, TakesTheRowsOfTheTable) {
  const auto table = random(5, 3, 1);
  const std::vector<TokenId> ids = {4, 0, 4};
  const Matrix<double> rows = embed(Parameter<double>{table}, ids);
  ASSERT_EQ(rows.rows(), 3);
  EXPECT_EQ(rows.row(0), table.row(4));
  EXPECT_EQ(rows.row(1), table.row(0));
  EXPECT_EQ(rows.row(2), table.row(4));
  EXPECT_EQ(embed(table, std::vector<TokenId>{}).rows(), 0);
}

TEST(Embed, NamesTheIdThatIsNotInTheTable) {
  const auto table = random(5, 3, 1);
  EXPECT_EQ(thrown<ShapeError>([&] {
              (void)embed(table, std::vector<TokenId>{0, 5});
            }),
            "embed: ids[1] is 5, expected a row of the table, 0 to 4");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)embed(table, std::vector<TokenId>{-1}); }),
            "embed: ids[0] is -1, expected a row of the table, 0 to 4");
}

TEST(AddEmbedding, AddsTheRowsOfTheTable) {
  const auto x = random(2, 3, 1), table = random(4, 3, 2);
  const Matrix<double> y = add_embedding(x, table, std::vector<TokenId>{3, 1});
  EXPECT_EQ(y.row(0), x.row(0) + table.row(3));
  EXPECT_EQ(y.row(1), x.row(1) + table.row(1));
  EXPECT_EQ(thrown<ShapeError>([&] { (void)add_embedding(x, table, std::vector<TokenId>{1}); }),
            "add_embedding: number of ids is 1, expected 2");
}

TEST(Rows, ConcatenateAndSliceUndoEachOther) {
  for (Index n : {0, 1, 64}) {
    const auto a = random(n, 3, 1), b = random(2, 3, 2), c = random(n, 4, 3);
    EXPECT_EQ(slice_rows(concatenate_rows(a, b), 0, n), a);
    EXPECT_EQ(slice_rows(concatenate_rows(a, b), n, 2), b);
    EXPECT_EQ(slice_columns(concatenate_columns(a, c), 0, 3), a);
    EXPECT_EQ(slice_columns(concatenate_columns(a, c), 3, 4), c);
  }
}

TEST(Rows, GatherTakesRowsInTheOrderListed) {
  const auto x = random(4, 3, 1);
  const Matrix<double> y = gather_rows(x, std::vector<Index>{3, 0, 3});
  EXPECT_EQ(y.row(0), x.row(3));
  EXPECT_EQ(y.row(1), x.row(0));
  EXPECT_EQ(y.row(2), x.row(3));
}

TEST(Rows, NameWhatLiesOutside) {
  const auto x = random(4, 3, 1);
  EXPECT_EQ(thrown<ShapeError>([&] { (void)slice_rows(x, 2, 3); }),
            "slice_rows: rows is 2 to 5, expected within 0 to 4");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)slice_columns(x, -1, 2); }),
            "slice_columns: columns is -1 to 1, expected within 0 to 3");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)gather_rows(x, std::vector<Index>{4}); }),
            "gather_rows: rows is 4 to 5, expected within 0 to 4");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)concatenate_rows(x, random(1, 2, 1)); }),
            "concatenate_rows: columns of the second matrix is 2, expected 3");
}

TEST(MeanRows, AveragesEachSequence) {
  const auto x = random(5, 3, 1);
  const Matrix<double> y = mean_rows(x, RaggedRows::from_lengths({2, 0, 3}));
  EXPECT_TRUE(near(y.row(0), (x.row(0) + x.row(1)) / 2, 1e-15));
  EXPECT_TRUE(y.row(1).isZero(0));
  EXPECT_TRUE(near(y.row(2), (x.row(2) + x.row(3) + x.row(4)) / 3, 1e-15));
  EXPECT_TRUE(near(mean_rows(x), x.colwise().mean(), 1e-15));
  EXPECT_EQ(thrown<ShapeError>([&] {
              (void)mean_rows(x, RaggedRows::from_lengths({2, 2}));
            }),
            "mean_rows: x rows is 5, expected 4; the lengths of its sequences must add up to its rows");
}

}  // namespace
}  // namespace headwise
