#include <headwise/mask/picture.hpp>
#include <headwise/mask/sliding_window.hpp>

#include <gtest/gtest.h>

#include "support/mask_laws.hpp"

#include <limits>

namespace headwise::mask::sliding_window_test {
namespace {

struct Windows {
  static auto masks() {
    return std::array{SlidingWindow{.width = 0},
                      SlidingWindow{.width = 1},
                      SlidingWindow{.width = 2},
                      SlidingWindow{.width = 63},
                      SlidingWindow{.width = 64},
                      SlidingWindow{.width = 65},
                      SlidingWindow{},
                      SlidingWindow{.width = std::numeric_limits<Index>::max()}};
  }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(SlidingWindow, MaskLaws, Windows);

TEST(SlidingWindow, B49_SeesItselfAndTheTokensBeforeIt) {
  namespace hw = headwise;
  // [docs mask/sliding_window]
  const hw::mask::SlidingWindow window{.width = 3};
  const std::string picture = hw::mask::to_string(window, 5, 5);
  // "#....\n"
  // "##...\n"
  // "###..\n"
  // ".###.\n"
  // "..###\n"
  // [docs end]
  EXPECT_EQ(picture, "#....\n##...\n###..\n.###.\n..###\n");
}

TEST(SlidingWindow, B52_SameKeysFromPrefillAndFromDecodingOneToken) {
  const SlidingWindow window{.width = 2};
  const std::string prefill = to_string(window, 5, 5);
  EXPECT_EQ(prefill.substr(4 * 6), "...##\n");
  EXPECT_EQ(to_string(window, 1, 5, {.query_offset = 4}), prefill.substr(4 * 6));
}

TEST(SlidingWindow, B77_EachTokenSeesAsMuchMemoryAsThereIs) {
  // A memory of 2 and 2 new tokens: each sees the memory length and itself.
  EXPECT_EQ(to_string(SlidingWindow{.width = 3}, 2, 4, {.query_offset = 2}), "###.\n.###\n");
}

TEST(SlidingWindow, WidthZeroHidesEveryKey) {
  EXPECT_EQ(to_string(SlidingWindow{.width = 0}, 2, 2), "..\n..\n");
}

TEST(SlidingWindow, WiderThanTheSequenceIsCausal) {
  EXPECT_EQ(to_string(SlidingWindow{.width = 100}, 3, 3), "#..\n##.\n###\n");
}

TEST(SlidingWindow, RefusesANegativeWidth) {
  try {
    (void)to_string(SlidingWindow{.width = -1}, 2, 2);
    FAIL() << "accepted a negative width";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "SlidingWindow: width is -1, expected zero or more");
  }
}

}  // namespace
}  // namespace headwise::mask::sliding_window_test
