#include <headwise/position/learned_per_layer.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/thrown.hpp"

#include <string>
#include <vector>

namespace headwise::position {
namespace {

using check::near;
using check::random;
using check::thrown;

LearnedPerLayer<double> encoding_of(Index layers, Index max_len, Index d_model) {
  Rng rng(3);
  return {{.layers = layers, .max_len = max_len, .d_model = d_model}, rng};
}

/// What was added, as rows of the table.
void expect_added(const Matrix<double>& got, const Matrix<double>& x, const Matrix<double>& table,
                  const std::vector<Index>& rows) {
  ASSERT_EQ(got.rows(), Index(rows.size()));
  for (Index i = 0; i < got.rows(); ++i)
    for (Index c = 0; c < got.cols(); ++c)
      EXPECT_EQ(got(i, c), x(i, c) + table(rows[std::size_t(i)], c)) << i;
}

TEST(LearnedPerLayer, EachLayerAddsItsOwnTable) {
  const auto encoding = encoding_of(3, 4, 2);
  const auto x = random(4, 2, 1);
  for (Index layer = 0; layer < 3; ++layer)
    expect_added(encoding(x, layer), x, encoding.table(layer), {0, 1, 2, 3});
  EXPECT_FALSE(near(encoding.table(0), encoding.table(1), 1e-6));
}

TEST(LearnedPerLayer, AShortSegmentEndsWhereTheTableEnds) {
  const auto encoding = encoding_of(1, 5, 2);
  const auto x = random(2, 2, 1);
  expect_added(encoding(x, 0), x, encoding.table(0), {3, 4});
}

TEST(LearnedPerLayer, MemoryTakesTheRowsBeforeTheSegment) {
  const auto encoding = encoding_of(2, 8, 2);
  const auto memory = random(3, 2, 1);
  expect_added(encoding.with_memory(memory, 1, 4), memory, encoding.table(1), {1, 2, 3});
}

TEST(LearnedPerLayer, AMemoryLongerThanTheTableRepeatsTheFirstRowOnTheLeft) {
  const auto encoding = encoding_of(1, 6, 2);
  const auto memory = random(5, 2, 1);
  expect_added(encoding.with_memory(memory, 0, 3), memory, encoding.table(0), {0, 0, 0, 1, 2});
  expect_added(encoding.with_memory(memory, 0, 6), memory, encoding.table(0), {0, 0, 0, 0, 0});
}

TEST(LearnedPerLayer, MemoryAndSegmentTogetherAreOneStretchOfTheTable) {
  namespace hw = headwise;
  hw::Rng rng(1);
  const hw::Matrix<float> text = hw::normal(10, 4, 1.0f, rng);
  const hw::Matrix<float> memory = text.topRows(6), x = text.bottomRows(4);
  // [docs position/learned_per_layer]
  const hw::position::LearnedPerLayer encoding({.layers = 2, .max_len = 10, .d_model = 4}, rng);
  const hw::Index layer = 1;
  const hw::Matrix<float> queries = encoding(x, layer);
  const hw::Matrix<float> remembered = encoding.with_memory(memory, layer, x.rows());
  // [docs end]
  const hw::Matrix<float> whole = encoding(text, layer);
  EXPECT_TRUE(near(remembered, Matrix<float>(whole.topRows(6)), 0));
  EXPECT_TRUE(near(queries, Matrix<float>(whole.bottomRows(4)), 0));
}

TEST(LearnedPerLayer, FollowsExplicitPositions) {
  const auto encoding = encoding_of(1, 6, 2);
  const auto x = random(3, 2, 1);
  expect_added(encoding(x, 0, std::vector<Position>{0, 1, 2}), x, encoding.table(0), {0, 1, 2});
}

TEST(LearnedPerLayer, ThePapersModelHasSixteenMillionOfThem) {
  const LearnedPerLayerOptions paper;
  EXPECT_EQ(paper.layers * paper.max_len * paper.d_model, 16'777'216);
}

TEST(LearnedPerLayer, VisitsEachTable) {
  auto encoding = encoding_of(2, 3, 2);
  std::vector<std::string> names;
  encoding.for_each_parameter([&](std::string_view name, Parameter<double>& parameter) {
    names.emplace_back(name);
    parameter.value.setConstant(double(names.size()));
  });
  EXPECT_EQ(names, (std::vector<std::string>{"table.0", "table.1"}));
  EXPECT_EQ(encoding.table(1)(2, 1), 2);
}

TEST(LearnedPerLayer, NamesWhatDoesNotFit) {
  const auto encoding = encoding_of(2, 3, 2);
  EXPECT_EQ(thrown<ShapeError>([&] { (void)encoding(random(3, 2, 1), 2); }),
            "LearnedPerLayer: layer is 2, expected 0 to 1");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)encoding(random(3, 2, 1), -1); }),
            "LearnedPerLayer: layer is -1, expected 0 to 1");
  EXPECT_EQ(
      thrown<ShapeError>([&] { (void)encoding(random(4, 2, 1), 0); }),
      "LearnedPerLayer: rows of the segment is 4, expected at most 3 (max_len); cut the text into shorter "
      "segments");
  EXPECT_THROW((void)encoding.with_memory(random(1, 2, 1), 0, 4), ShapeError);
  EXPECT_THROW((void)encoding(random(1, 2, 1), 0, std::vector<Position>{3}), ShapeError);
  EXPECT_EQ(thrown<ShapeError>([] { (void)encoding_of(0, 3, 2); }),
            "LearnedPerLayer: layers is 0, expected a positive number");
}

}  // namespace
}  // namespace headwise::position
