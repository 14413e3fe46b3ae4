#include <headwise/mask/algebra.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/dense.hpp>
#include <headwise/mask/picture.hpp>

#include <gtest/gtest.h>

#include "support/mask_laws.hpp"

#include <type_traits>

namespace headwise::mask {
namespace {

/// Stripes, so that tiles of all three kinds occur; each block differs.
Matrix<bool> blocks(Index count, Index rows, Index cols) {
  Matrix<bool> matrix(count * rows, cols);
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < cols; ++j) matrix(i, j) = (i / 9 + j / 13 + i / rows) % 3 != 0;
  return matrix;
}

struct DenseSamples {
  static auto masks() {
    return std::array{Dense(blocks(1, 66, 70)), Dense(blocks(2, 66, 70), {.heads = 2, .sequences = 1}),
                      Dense(blocks(3, 66, 70), {.heads = 1, .sequences = 3}),
                      Dense(blocks(6, 66, 70), {.heads = 2, .sequences = 3}),
                      Dense(blocks(6, 1, 70), {.heads = 2, .sequences = 3})};
  }
  static std::vector<Context> contexts() {
    std::vector<Context> each(6);
    for (std::size_t i = 0; i < each.size(); ++i) {
      const Index sequence = Index(i) / 2;
      each[i].head = Index(i) % 2;
      each[i].heads = 2;
      each[i].sequence = sequence;
      each[i].sequences = 3;
      each[i].query_rows = {66 * sequence, 66 * sequence + 66};
      each[i].key_rows = {70 * sequence, 70 * sequence + 70};
    }
    return each;
  }
  static Tile domain(const Context& context) { return laws::rows_of(context); }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(Dense, MaskLaws, DenseSamples);

std::string refusal(const Dense& mask, Index q_len, Index k_len, const PictureOptions& options = {}) {
  try {
    (void)to_dense(mask, q_len, k_len, options);
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Dense, IsTheMatrixThatItWasGiven) {
  namespace hw = headwise;
  // [docs mask/dense]
  hw::Matrix<bool> friends(3, 3);
  friends << true, false, true,  //
      false, true, false,        //
      true, false, true;
  const hw::mask::Dense mask(std::move(friends));
  const std::string picture = hw::mask::to_string(mask, 3, 3);
  // "#.#\n"
  // ".#.\n"
  // "#.#\n"
  // [docs end]
  EXPECT_EQ(picture, "#.#\n.#.\n#.#\n");
}

TEST(Dense, B122_OffsetsAreCountedIn64Bits) {
  constexpr DenseLayout layout{.sequences = 8, .heads = 28, .block_rows = 4096, .k_len = 4096};
  static_assert(layout.offset(7, 27, 4095, 4095) == 3758096383);
  static_assert(layout.offset(0, 0, 0, 0) == 0);
  static_assert(layout.offset(0, 1, 0, 0) == Index(4096) * 4096);
  static_assert(layout.offset(1, 0, 0, 0) == Index(28) * 4096 * 4096);
}

TEST(Dense, B34_OneBlockServesAllHeads) {
  Matrix<bool> row(1, 2);
  row << true, false;
  const Dense mask(row);
  for (Index head : {0, 1}) {
    const PictureOptions options{.head = head, .heads = 2};
    EXPECT_EQ(to_string(mask, 1, 2, options), "#.\n");
  }
}

TEST(Dense, B32_OneRowABlockServesAllQueries) {
  Matrix<bool> rows(2, 2);
  rows << true, false,  //
      false, true;
  const Dense mask(rows, {.heads = 2});
  EXPECT_EQ(to_string(mask, 2, 2, {.head = 0, .heads = 2}), "#.\n#.\n");
  EXPECT_EQ(to_string(mask, 2, 2, {.head = 1, .heads = 2}), ".#\n.#\n");
}

TEST(Dense, B35_BlocksOfHeadsRepeatOverTheBatch) {
  Matrix<bool> rows(4, 2);  // two heads of two queries
  rows << true, false, true, true, false, true, true, true;
  const Dense mask(rows, {.heads = 2});
  for (Index sequence : {0, 1}) {
    const PictureOptions first{.head = 0, .heads = 2, .sequence = sequence, .sequences = 2};
    const PictureOptions second{.head = 1, .heads = 2, .sequence = sequence, .sequences = 2};
    EXPECT_EQ(to_string(mask, 2, 2, first), "#.\n##\n");
    EXPECT_EQ(to_string(mask, 2, 2, second), ".#\n##\n");
  }
}

TEST(Dense, BlocksOfSequencesServeAllHeads) {
  Matrix<bool> rows(2, 2);
  rows << true, false, false, true;
  const Dense mask(rows, {.heads = 1, .sequences = 2});
  for (Index head : {0, 2}) {
    const PictureOptions first{.head = head, .heads = 3, .sequence = 0, .sequences = 2};
    const PictureOptions second{.head = head, .heads = 3, .sequence = 1, .sequences = 2};
    EXPECT_EQ(to_string(mask, 1, 2, first), "#.\n");
    EXPECT_EQ(to_string(mask, 1, 2, second), ".#\n");
  }
}

TEST(Dense, GoesByRowsSoThatNoOffsetMovesIt) {
  Matrix<bool> last(1, 3);
  last << false, false, true;
  EXPECT_EQ(to_string(Dense(last), 1, 3, {.query_offset = 2}), "..#\n");
  EXPECT_EQ(to_string(Causal{} && Dense(last), 1, 3, {.query_offset = 2}), "..#\n");
  EXPECT_EQ(to_string(Causal{} && Dense(last), 1, 3, {.query_offset = 1}), "...\n");
}

TEST(Dense, TakesExpressionsAndEitherStorageOrder) {
  Matrix<double> scores(2, 2);
  scores << 1.0, -1.0, 2.0, 3.0;
  EXPECT_EQ(to_string(Dense((scores.array() > 0).matrix()), 2, 2), "#.\n##\n");
  Eigen::Matrix<bool, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor> columns(2, 3);
  columns << true, false, false, false, true, true;
  EXPECT_EQ(to_string(Dense(columns), 2, 3), "#..\n.##\n");
  EXPECT_EQ(to_string(Dense(columns.rightCols(2)), 2, 2), "..\n##\n");
}

TEST(Dense, B41_FloatsWhereBooleansAreExpectedDoNotCompile) {
  static_assert(std::is_constructible_v<Dense, Matrix<bool>>);
  static_assert(!std::is_constructible_v<Dense, Matrix<float>>);
  static_assert(!std::is_constructible_v<Dense, Matrix<double>>);
  static_assert(!std::is_constructible_v<Dense, Matrix<std::uint8_t>>);
  static_assert(!MaskPolicy<Matrix<float>>);
}

TEST(Dense, RefusesBlocksThatDoNotDivideTheRows) {
  try {
    (void)Dense(Matrix<bool>(Matrix<bool>::Ones(7, 3)), {.heads = 2, .sequences = 2});
    FAIL() << "accepted 7 rows for 4 blocks";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(
        error.what(),
        "Dense: matrix rows is 7, expected a multiple of 4 (sequences * heads); stack one block of rows for "
        "each head of each sequence");
  }
}

TEST(Dense, NamesTheAxisThatDoesNotFitTheCall) {
  const Dense mask(Matrix<bool>(Matrix<bool>::Ones(8, 3)), {.heads = 2, .sequences = 2});
  EXPECT_EQ(refusal(mask, 2, 3, {.heads = 2, .sequences = 2}), "accepted");
  EXPECT_EQ(refusal(mask, 2, 3, {.heads = 4, .sequences = 2}),
            "Dense: heads is 2, expected 1 or 4 (those of the call)");
  EXPECT_EQ(refusal(mask, 2, 3, {.heads = 2, .sequences = 3}),
            "Dense: sequences is 2, expected 1 or 3 (those of the call)");
  EXPECT_EQ(refusal(mask, 5, 3, {.heads = 2, .sequences = 2}),
            "Dense: rows of a block is 2, expected 5 (queries) or 1");
  EXPECT_EQ(refusal(mask, 2, 4, {.heads = 2, .sequences = 2}),
            "Dense: matrix columns is 3, expected 4; give one column for each key");
}

TEST(Dense, AnEmptyMatrixServesAnEmptyCall) {
  EXPECT_EQ(refusal(Dense(Matrix<bool>(0, 3)), 0, 3), "accepted");
  EXPECT_EQ(refusal(Dense(Matrix<bool>(2, 0)), 2, 0), "accepted");
}

}  // namespace
}  // namespace headwise::mask
