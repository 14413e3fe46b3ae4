#include <headwise/mask/causal.hpp>
#include <headwise/mask/picture.hpp>
#include <headwise/mask/prefix.hpp>

#include <gtest/gtest.h>

#include <array>

namespace headwise::mask {
namespace {

std::string refusal(Index q_len, Index k_len, const PictureOptions& options) {
  try {
    (void)to_dense(Causal{}, q_len, k_len, options);
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Picture, ShowsOneLineAQuery) { EXPECT_EQ(to_string(Causal{}, 2, 3, {.query_offset = 1}), "##.\n###\n"); }

TEST(Picture, IsAMatrixOfBools) {
  const Matrix<bool> seen = to_dense(Causal{}, 3, 3);
  for (Index q = 0; q < 3; ++q)
    for (Index k = 0; k < 3; ++k) EXPECT_EQ(seen(q, k), k <= q);
}

TEST(Picture, TakesAnyCallable) {
  const auto diagonal = [](Index query, Index key) { return query == key; };
  EXPECT_EQ(to_string(diagonal, 2, 2), "#.\n.#\n");
  const auto by_head = [](Index, Index key, Index head, Index sequence) {
    return key == head + 2 * sequence;
  };
  EXPECT_EQ(to_string(by_head, 4, 4, {.head = 1, .heads = 2, .sequence = 1, .sequences = 2}),
            "...#\n...#\n...#\n...#\n");
}

TEST(Picture, TakesAMaskThatTestsPlaces) {
  struct SameRowLaterPosition {
    bool allows(Place query, Place key) const {
      return query.row == key.row && query.position > key.position;
    }
  };
  EXPECT_EQ(to_string(SameRowLaterPosition{}, 2, 2), "..\n..\n");
  EXPECT_EQ(to_string(SameRowLaterPosition{}, 2, 2, {.query_offset = 1}), "#.\n.#\n");
}

TEST(Picture, EmptySizesGiveEmptyPictures) {
  EXPECT_EQ(to_string(Causal{}, 0, 0), "");
  EXPECT_EQ(to_string(Causal{}, 2, 0, {.query_offset = 0}), "\n\n");
  EXPECT_EQ(to_dense(Causal{}, 0, 3, {.query_offset = 0}).cols(), 3);
}

TEST(Picture, LengthsThatDifferNeedAnOffsetOnlyWhereTheMaskReadsThePositionOfTheQuery) {
  EXPECT_EQ(refusal(2, 3, {}),
            "to_dense: query_offset is not given, expected a number, because q_len 2 and k_len 3 differ; say "
            "how many "
            "keys precede the first query, or align_last");
  EXPECT_EQ(to_string(Causal{}, 2, 3, {.query_offset = align_last}), "##.\n###\n");
  EXPECT_EQ(to_string(Prefix{.length = 1}, 1, 2), "#.\n");
}

TEST(Picture, NamesTheOptionThatDoesNotFit) {
  const std::array<Position, 2> two{0, 1};
  EXPECT_EQ(refusal(-1, 3, {}), "to_dense: q_len is -1, expected zero or more");
  EXPECT_EQ(refusal(2, -1, {}), "to_dense: k_len is -1, expected zero or more");
  EXPECT_EQ(refusal(2, 2, {.head = 2, .heads = 2}), "to_dense: head is 2, expected 0 to 1 (heads)");
  EXPECT_EQ(refusal(2, 2, {.sequence = -1}), "to_dense: sequence is -1, expected 0 to 0 (sequences)");
  EXPECT_EQ(refusal(2, 3, {.query_positions = two, .key_positions = two}),
            "to_dense: key_positions is 2, expected 3; give one for each key");
  EXPECT_EQ(refusal(2, 2, {.query_positions = two}),
            "to_dense: key_positions is 0, expected 2; give one for each key");
  EXPECT_EQ(refusal(2, 2, {.query_offset = 0, .query_positions = two, .key_positions = two}),
            "to_dense: query_offset and positions are both given, expected one");
}

}  // namespace
}  // namespace headwise::mask
