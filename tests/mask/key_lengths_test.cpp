#include <headwise/mask/algebra.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/key_lengths.hpp>
#include <headwise/mask/picture.hpp>

#include <gtest/gtest.h>

#include "support/mask_laws.hpp"

namespace headwise::mask {
namespace {

struct Lengths {
  static auto masks() { return std::array{KeyLengths{.lengths = {0, 1, 63, 64, 65, 70}}}; }
  static std::vector<Context> contexts() {
    std::vector<Context> each(6);
    for (std::size_t i = 0; i < each.size(); ++i) {
      each[i].heads = 2;
      each[i].sequence = Index(i);
      each[i].sequences = 6;
      each[i].query_rows = each[i].key_rows = {70 * Index(i), 70 * Index(i) + 70};
    }
    return each;
  }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(KeyLengths, MaskLaws, Lengths);

std::string refusal(const auto& mask, Index sequence, Index sequences, Index k_len) {
  try {
    (void)to_dense(mask, k_len, k_len, {.sequence = sequence, .sequences = sequences});
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(KeyLengths, HidesTheRowsBehindTheLengthOfTheSequence) {
  namespace hw = headwise;
  // [docs mask/key_lengths]
  // Two sequences padded to 4 keys, of which 3 and 1 are real.
  const hw::mask::KeyLengths padding{.lengths = {3, 1}};
  const auto decoder = hw::mask::Causal{} && padding;
  const std::string first = hw::mask::to_string(decoder, 4, 4, {.sequence = 0, .sequences = 2});
  // "#...\n"
  // "##..\n"
  // "###.\n"
  // "###.\n"
  // [docs end]
  EXPECT_EQ(first, "#...\n##..\n###.\n###.\n");
  EXPECT_EQ(to_string(decoder, 4, 4, {.sequence = 1, .sequences = 2}), "#...\n#...\n#...\n#...\n");
}

TEST(KeyLengths, GoesByRowsSoThatNoOffsetMovesIt) {
  const KeyLengths padding{.lengths = {2}};
  EXPECT_EQ(to_string(padding, 1, 4), "##..\n");
  EXPECT_EQ(to_string(padding, 1, 4, {.query_offset = 3}), "##..\n");
  const std::array<Position, 1> query{9};
  const std::array<Position, 4> keys{9, 8, 7, 6};
  EXPECT_EQ(to_string(padding, 1, 4, {.query_positions = query, .key_positions = keys}), "##..\n");
}

TEST(KeyLengths, NegatedIsPaddingInFront) {
  const auto left_padding = !KeyLengths{.lengths = {1}};
  EXPECT_EQ(to_string(left_padding, 2, 3), ".##\n.##\n");
}

TEST(KeyLengths, B28_FirstQueriesOfAShortSequenceSeeNothing) {
  const auto mask = Causal{} && KeyLengths{.lengths = {1}};
  EXPECT_EQ(to_string(mask, 2, 2, {.query_offset = -1}), "..\n#.\n");
}

TEST(KeyLengths, B119_LengthZeroHidesAllKeysOfItsSequenceOnly) {
  const KeyLengths padding{.lengths = {0, 2}};
  EXPECT_EQ(to_string(padding, 2, 2, {.sequence = 0, .sequences = 2}), "..\n..\n");
  EXPECT_EQ(to_string(padding, 2, 2, {.sequence = 1, .sequences = 2}), "##\n##\n");
}

TEST(KeyLengths, WantsOneLengthForEachSequence) {
  EXPECT_EQ(refusal(KeyLengths{.lengths = {2, 2}}, 0, 3, 2),
            "KeyLengths: lengths is 2, expected 3; give one length for each sequence of the batch");
}

TEST(KeyLengths, RefusesLengthsThatTheSequenceCannotHave) {
  EXPECT_EQ(refusal(KeyLengths{.lengths = {2, 5}}, 1, 2, 4),
            "KeyLengths: lengths[1] is 5, expected 0 to 4 (the sequence's key rows)");
  EXPECT_EQ(refusal(KeyLengths{.lengths = {-1, 4}}, 0, 2, 4),
            "KeyLengths: lengths[0] is -1, expected 0 to 4 (the sequence's key rows)");
  EXPECT_EQ(refusal(KeyLengths{.lengths = {0, 4}}, 1, 2, 4), "accepted");
}

TEST(KeyLengths, IsCheckedInsideCombinations) {
  EXPECT_EQ(refusal(Causal{} && !KeyLengths{.lengths = {3}}, 0, 1, 2),
            "KeyLengths: lengths[0] is 3, expected 0 to 2 (the sequence's key rows)");
}

}  // namespace
}  // namespace headwise::mask
