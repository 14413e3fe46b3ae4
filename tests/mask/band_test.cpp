#include <headwise/mask/band.hpp>
#include <headwise/mask/picture.hpp>

#include <gtest/gtest.h>

#include "support/mask_laws.hpp"

#include <limits>

namespace headwise::mask {
namespace {

constexpr Index unlimited = std::numeric_limits<Index>::max();

struct Bands {
  static auto masks() {
    return std::array{Band{.left = 0, .right = 0},         Band{.left = 0, .right = 4},
                      Band{.left = 3, .right = 0},         Band{.left = 1, .right = 1},
                      Band{.left = 31, .right = 33},       Band{.left = 64, .right = 64},
                      Band{.left = 65, .right = 1},        Band{},
                      Band{.left = unlimited, .right = 2}, Band{.left = 2, .right = unlimited}};
  }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(Band, MaskLaws, Bands);

TEST(Band, SeesTokensOnBothSidesEndsIncluded) {
  namespace hw = headwise;
  // [docs mask/band]
  const hw::mask::Band band{.left = 2, .right = 1};
  const std::string picture = hw::mask::to_string(band, 5, 5);
  // "##...\n"
  // "###..\n"
  // "####.\n"
  // ".####\n"
  // "..###\n"
  // [docs end]
  EXPECT_EQ(picture, "##...\n###..\n####.\n.####\n..###\n");
}

TEST(Band, B50_IncludesBothEnds) {
  const Matrix<bool> seen = to_dense(Band{.left = 0, .right = 4}, 16, 16);
  for (Index key = 0; key < 16; ++key) EXPECT_EQ(seen(10, key), key >= 10 && key <= 14) << key;
}

TEST(Band, LongformersWindowIsHalfOfItOnEachSide) {
  const Index window = 4;
  const Matrix<bool> seen = to_dense(Band{.left = window / 2, .right = window / 2}, 9, 9);
  for (Index q = 0; q < 9; ++q)
    for (Index k = 0; k < 9; ++k) EXPECT_EQ(seen(q, k), std::abs(q - k) <= 2) << q << ", " << k;
}

TEST(Band, B53_RefusesANegativeSizeAndNamesIt) {
  const auto refusal = [](const Band& band) -> std::string {
    try {
      (void)to_dense(band, 4, 4);
    } catch (const ShapeError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(
      refusal({.left = -2, .right = 0}),
      "Band: left is -2, expected zero or more; for no limit on one side write Causal, !Causal or None");
  EXPECT_EQ(
      refusal({.left = 0, .right = -1}),
      "Band: right is -1, expected zero or more; for no limit on one side write Causal, !Causal or None");
}

}  // namespace
}  // namespace headwise::mask
