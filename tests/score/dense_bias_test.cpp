#include <headwise/score/dense_bias.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/score_laws.hpp"

#include <concepts>
#include <limits>
#include <string>
#include <vector>

namespace headwise::score::dense_bias_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// Two sequences of two heads, 3 queries, 5 keys; the second sequence's last head.
Context second_of_two() {
  Context c = laws::context(1, 2, 3, 5, 2);
  c.sequence = 1;
  c.sequences = 2;
  return c;
}

struct BlockForEachHead {
  static auto score() { return dense_bias(check::random(12, 5, 1), {.heads = 2, .sequences = 2}); }
  static std::vector<Context> contexts() { return {second_of_two()}; }
};
struct OneRowAHead {
  static auto score() { return dense_bias(Parameter<double>{check::random(2, 5, 2)}, {.heads = 2}); }
  static std::vector<Context> contexts() { return {second_of_two()}; }
};
struct OneColumn {
  static auto score() { return dense_bias(check::random(3, 1, 3)); }
  static std::vector<Context> contexts() { return {second_of_two()}; }
};
using Samples = testing::Types<BlockForEachHead, OneRowAHead, OneColumn>;
INSTANTIATE_TYPED_TEST_SUITE_P(DenseBias, ScoreLaws, Samples);

Context at(Index sequence, Index head, Index sequences = 2, Index heads = 2) {
  Context c = laws::context(head, heads, 3, 5, 0);
  c.sequence = sequence;
  c.sequences = sequences;
  return c;
}

TEST(DenseBias, AddsTheEntryOfTheBlock) {
  const Matrix<double> table = check::random(12, 5, 7);
  const auto bias = dense_bias(table, {.heads = 2, .sequences = 2});
  for (Index sequence : {0, 1})
    for (Index head : {0, 1})
      for (Position q : {0, 2})
        for (Position k : {0, 4})
          EXPECT_EQ(bind_score<double>(bias, at(sequence, head))(0.5, q, k),
                    0.5 + table((sequence * 2 + head) * 3 + q, k));
}

TEST(DenseBias, GoesByRowsNotByPositions) {
  const Matrix<double> table = check::random(3, 5, 7);
  const auto bias = dense_bias(table);
  const auto bound = bind_score<double>(bias, at(0, 0));
  const Place query{1002, 2}, key{1004, 4};
  EXPECT_EQ(headwise::apply(bound, 0.0, query, key), table(2, 4));
  static_assert(!reads_query<decltype(dense_bias(table))>());
}

TEST(DenseBias, B34_OneHeadServesAll) {
  const auto bias = dense_bias(Matrix<double>(Eigen::RowVector2d(0, -inf)));
  for (Index head : {0, 1}) {
    Context c = laws::context(head, 2, 1, 2, 1);
    check_score(bias, c);
    const auto bound = bind_score<double>(bias, c);
    EXPECT_EQ(bound(0.0, 0, 0), 0.0);
    EXPECT_EQ(bound(0.0, 0, 1), -inf);
  }
}

TEST(DenseBias, B35_OneSequenceServesTheBatch) {
  const Matrix<double> table = check::random(2, 5, 4);
  const auto bias = dense_bias(table, {.heads = 2});
  for (Index sequence : {0, 1})
    for (Index head : {0, 1})
      EXPECT_EQ(bind_score<double>(bias, at(sequence, head))(0.0, 2, 3), table(head, 3));
}

TEST(DenseBias, MinusInfinityRemovesAKeyWhateverItsScore) {
  const auto bias = dense_bias(Matrix<double>::Constant(3, 5, -inf));
  const auto bound = bind_score<double>(bias, at(0, 0));
  for (double s : {0.0, inf, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(bound(s, 1, 1), -inf);
    EXPECT_EQ(bound.pull_back(s, 1, 1, 2.0).score, 0.0);
    EXPECT_EQ(bound.pull_back(s, 1, 1, 2.0).learned[0], 0.0);
  }
}

TEST(DenseBias, B41_OnesAndZerosAreAdded) {
  const auto bias = dense_bias(Matrix<double>(Eigen::RowVector2d(1, 0)));
  const auto bound = bind_score<double>(bias, laws::context(0, 1, 1, 2, 0));
  EXPECT_EQ(bound(0.0, 0, 0), 1.0);
  EXPECT_EQ(bound(0.0, 0, 1), 0.0);
}

/// The lowest finite number is arithmetic, not a mask: equal for all keys it changes no weight.
TEST(DenseBias, B05_TheLowestFiniteNumberIsANumber) {
  const float lowest = std::numeric_limits<float>::lowest();
  const auto bias = dense_bias(Matrix<float>::Constant(1, 2, lowest));
  const auto bound = bind_score<float>(bias, laws::context(0, 1, 1, 2, 0));
  EXPECT_EQ(bound(0.0f, 0, 0), lowest);
  EXPECT_EQ(bound(0.0f, 0, 1), lowest);
}

TEST(DenseBias, B112_SharedAxesSumTheirGradients) {
  const auto bias = dense_bias(Matrix<double>(Eigen::RowVector2d(0.5, -1)));
  std::vector<Matrix<double>> gradients{Matrix<double>::Zero(1, 2)};
  for (Index sequence : {0, 1}) {
    const auto bound = bind_score<double>(bias, at(sequence, 0, 2, 1));
    const auto slot = bound.pair_slot(0, std::span(gradients));
    EXPECT_EQ(slot.row_stride, 0);
    for (Index row : {0, 1, 2}) {
      slot.data[row * slot.row_stride + 0 * slot.column_stride] += -0.5;
      slot.data[row * slot.row_stride + 1 * slot.column_stride] += 0.25;
    }
  }
  EXPECT_EQ(gradients[0](0, 0), -3.0);
  EXPECT_EQ(gradients[0](0, 1), 1.5);
}

/// 28 heads of 8 sequences of 4096 x 4096: an offset of 32 bits would wrap.
TEST(DenseBias, B122_OffsetsHave64Bits) {
  const BiasLayout layout{.sequences = 8, .heads = 28, .block_rows = 4096};
  EXPECT_EQ(layout.row(7, 27, 4095) * 4096 + 4095, 3758096383);
}

TEST(DenseBias, ViewsAreReadWhereTheyLie) {
  Matrix<double> wide = check::random(6, 10, 5);
  const auto block = wide.block(1, 2, 3, 5);
  const Eigen::MatrixXd columns = block;
  using Strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  const Eigen::Map<const Eigen::MatrixXd, 0, Strides> map(wide.data() + 12, 3, 5, Strides(1, 10));
  const auto of_block = dense_bias(block);
  const auto of_columns = dense_bias(columns);
  const auto of_map = dense_bias(map);
  const auto by_block = bind_score<double>(of_block, at(0, 0));
  const auto by_columns = bind_score<double>(of_columns, at(0, 0));
  const auto by_map = bind_score<double>(of_map, at(0, 0));
  for (Position q = 0; q < 3; ++q) {
    for (Position k = 0; k < 5; ++k) {
      EXPECT_EQ(by_block(0.0, q, k), wide(1 + q, 2 + k));
      EXPECT_EQ(by_columns(0.0, q, k), wide(1 + q, 2 + k));
      EXPECT_EQ(by_map(0.0, q, k), wide(1 + q, 2 + k));
    }
  }
  wide(1, 2) = 100;
  EXPECT_EQ(by_block(0.0, 0, 0), 100);
}

Matrix<double> made_table() { return check::random(6, 5, 5); }

/// A block of a matrix without a name would show what is gone.
TEST(DenseBias, BlocksWithoutANameAreKept) {
  const Matrix<double> table = made_table();
  const auto rows = dense_bias(made_table().bottomRows(3));
  static_assert(std::same_as<decltype(rows), const DenseBias<Matrix<double>>>);
  const auto turned = dense_bias(made_table().transpose());
  static_assert(std::same_as<decltype(turned), const DenseBias<Matrix<double>>>);
  EXPECT_EQ(bind_score<double>(rows, at(0, 0))(0.0, 2, 4), table(5, 4));
  EXPECT_EQ(bind_score<double>(turned, at(0, 0))(0.0, 4, 2), table(2, 4));
  const auto named = table.bottomRows(3);
  static_assert(!std::same_as<decltype(dense_bias(named)), DenseBias<Matrix<double>>>);
  using Map = Eigen::Map<const Matrix<double>>;
  static_assert(std::same_as<decltype(dense_bias(Map(table.data(), 6, 5))), DenseBias<Map>>);
}

TEST(DenseBias, ExpressionsAreEvaluatedOnce) {
  const Matrix<double> a = check::random(3, 5, 5), b = check::random(3, 5, 6);
  const auto bias = dense_bias(a + b);
  EXPECT_EQ(bind_score<double>(bias, at(0, 0))(0.0, 2, 4), a(2, 4) + b(2, 4));
}

std::string refusal(const Matrix<double>& table, BiasBlocks blocks, const Context& context) {
  try {
    check_score(dense_bias(table, blocks), context);
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(DenseBias, NamesTheAxisThatDoesNotFit) {
  const auto zeros = [](Index rows, Index cols) { return Matrix<double>::Zero(rows, cols).eval(); };
  EXPECT_EQ(refusal(zeros(3, 5), {}, at(0, 0)), "accepted");
  EXPECT_EQ(refusal(zeros(1, 1), {}, at(0, 0)), "accepted");
  EXPECT_EQ(refusal(zeros(9, 5), {.heads = 3}, at(0, 0)),
            "DenseBias: heads is 3, expected 1 or 2 (those of the call)");
  EXPECT_EQ(refusal(zeros(9, 5), {.sequences = 3}, at(0, 0)),
            "DenseBias: sequences is 3, expected 1 or 2 (those of the call)");
  EXPECT_EQ(refusal(zeros(4, 5), {}, at(0, 0)), "DenseBias: rows of a block is 4, expected 1 or 3 (queries)");
  EXPECT_EQ(refusal(zeros(3, 4), {}, at(0, 0)), "DenseBias: table columns is 4, expected 1 or 5 (keys)");
  EXPECT_EQ(refusal(zeros(5, 5), {.heads = 2}, at(0, 0)),
            "DenseBias: table rows is 5, expected a multiple of 2 (sequences * heads); "
            "stack one block of rows for each head of each sequence");
  EXPECT_EQ(refusal(zeros(3, 5), {.heads = 0}, at(0, 0)),
            "DenseBias: heads is 0, expected a positive number");
}

}  // namespace
}  // namespace headwise::score::dense_bias_test
