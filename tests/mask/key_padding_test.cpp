#include <headwise/mask/algebra.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/key_padding.hpp>
#include <headwise/mask/picture.hpp>

#include <gtest/gtest.h>

#include "support/mask_laws.hpp"

namespace headwise::mask {
namespace {

/// Three sequences of 70, 1 and 65 keys: holes of all sizes, then all padding, then padding in front.
struct Paddings {
  static auto masks() {
    std::vector<bool> real(136, true);
    for (std::size_t k = 0; k < 70; ++k) real[k] = k % 7 != 3 && (k < 20 || k > 40);
    real[70] = false;
    for (std::size_t k = 71; k < 75; ++k) real[k] = false;
    return std::array{KeyPadding(real), KeyPadding(std::vector<bool>(136, true)),
                      KeyPadding(std::vector<bool>(136, false))};
  }
  static std::vector<Context> contexts() {
    std::vector<Context> each(3);
    each[0].key_rows = {0, 70};
    each[1].key_rows = {70, 71};
    each[2].key_rows = {71, 136};
    for (std::size_t i = 0; i < 3; ++i) {
      each[i].heads = 2;
      each[i].sequence = Index(i);
      each[i].sequences = 3;
      each[i].query_rows = {5 * Index(i), 5 * Index(i) + 5};
    }
    return each;
  }
  static Tile domain(const Context& context) { return laws::rows_of(context); }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(KeyPadding, MaskLaws, Paddings);

TEST(KeyPadding, HidesEveryRowThatIsNotReal) {
  namespace hw = headwise;
  // [docs mask/key_padding]
  const hw::mask::KeyPadding padding({false, true, true, false});  // one bool for each row of key
  const std::string picture = hw::mask::to_string(hw::mask::Causal{} && padding, 4, 4);
  // "....\n"
  // ".#..\n"
  // ".##.\n"
  // ".##.\n"
  // [docs end]
  EXPECT_EQ(picture, "....\n.#..\n.##.\n.##.\n");
}

TEST(KeyPadding, B43_WithCausalLeavesTheFirstRowEmpty) {
  const auto mask = Causal{} && KeyPadding({false, true, true, false, false, true, false});
  EXPECT_EQ(to_string(mask, 7, 7),
            ".......\n"
            ".#.....\n"
            ".##....\n"
            ".##....\n"
            ".##....\n"
            ".##..#.\n"
            ".##..#.\n");
}

TEST(KeyPadding, B44_HidesTheNewestKeyInDecoding) {
  const auto mask = Causal{} && KeyPadding({true, true, false});
  EXPECT_EQ(to_string(mask, 1, 3, {.query_offset = 2}), "##.\n");
}

TEST(KeyPadding, B73_PaddingInFrontReachesPrefillAndDecoding) {
  EXPECT_EQ(to_string(Causal{} && KeyPadding({false, true, true}), 3, 3), "...\n.#.\n.##\n");
  EXPECT_EQ(to_string(Causal{} && KeyPadding({false, true, true, true}), 1, 4, {.query_offset = 3}),
            ".###\n");
}

TEST(KeyPadding, B37_EachSequenceHasItsOwnRows) {
  const KeyPadding padding({true, false, false, true});
  EXPECT_EQ(to_string(padding, 1, 2, {.sequence = 0, .sequences = 2}), "#.\n");
  EXPECT_EQ(to_string(padding, 1, 2, {.sequence = 1, .sequences = 2}), ".#\n");
}

TEST(KeyPadding, TakesABoolMatrixOfOneRowASequence) {
  Matrix<bool> real(2, 3);
  real << true, true, false,  //
      true, false, false;
  const KeyPadding padding(std::span<const bool>(real.data(), std::size_t(real.size())));
  EXPECT_EQ(to_string(padding, 1, 3, {.sequence = 0, .sequences = 2}), "##.\n");
  EXPECT_EQ(to_string(padding, 1, 3, {.sequence = 1, .sequences = 2}), "#..\n");
}

TEST(KeyPadding, WantsOneBoolForEachKeyRow) {
  const auto refusal = [](const KeyPadding& padding, Index sequence, Index sequences) -> std::string {
    try {
      (void)to_dense(padding, 1, 2, {.sequence = sequence, .sequences = sequences});
    } catch (const ShapeError& error) {
      return error.what();
    }
    return "accepted";
  };
  const std::string text = "KeyPadding: number of flags is ";
  EXPECT_EQ(refusal(KeyPadding({true}), 0, 1), text + "1, expected 2; give one bool for each row of key");
  EXPECT_EQ(refusal(KeyPadding({true, true, true}), 0, 1),
            text + "3, expected 2; give one bool for each row of key");
  EXPECT_EQ(refusal(KeyPadding({true, true, true}), 0, 2), "accepted");  // the second sequence refuses
  EXPECT_EQ(refusal(KeyPadding({true, true, true}), 1, 2),
            text + "3, expected 4; give one bool for each row of key");
}

}  // namespace
}  // namespace headwise::mask
