#include <headwise/mask/causal.hpp>
#include <headwise/mask/picture.hpp>

#include <gtest/gtest.h>

#include "support/mask_laws.hpp"

namespace headwise::mask {
namespace {

struct CausalSamples {
  static auto masks() { return std::array{Causal{}}; }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(Causal, MaskLaws, CausalSamples);

TEST(Causal, B38_SeesItselfAndAllTokensBeforeIt) {
  namespace hw = headwise;
  // [docs mask/causal]
  const std::string training = hw::mask::to_string(hw::mask::Causal{}, 3, 3);
  // "#..\n"
  // "##.\n"
  // "###\n"
  const std::string with_a_cache =
      hw::mask::to_string(hw::mask::Causal{}, 2, 4, {.query_offset = hw::align_last});
  // "###.\n"
  // "####\n"
  // [docs end]
  EXPECT_EQ(training, "#..\n##.\n###\n");
  EXPECT_EQ(with_a_cache, "###.\n####\n");
}

TEST(Causal, B46_IsNotSkippedWhenItIsTheOnlyMask) { EXPECT_EQ(to_string(Causal{}, 2, 2), "#.\n##\n"); }

TEST(Causal, B47_IsMadeForNoLengthSoItFitsAll) {
  constexpr Causal causal;
  const std::string longest = to_string(causal, 8, 8), shorter = to_string(causal, 3, 3);
  EXPECT_EQ(shorter, "#..\n##.\n###\n");
  for (std::size_t row = 0; row < 3; ++row) EXPECT_EQ(longest.substr(row * 9, 3), shorter.substr(row * 4, 3));
}

TEST(Causal, B23_OneQueryOverACacheSeesAllOfItOrTheFirstKeyAsTheCallerSays) {
  EXPECT_EQ(to_string(Causal{}, 1, 3, {.query_offset = align_last}), "###\n");
  EXPECT_EQ(to_string(Causal{}, 1, 3, {.query_offset = 0}), "#..\n");
  EXPECT_THROW((void)to_string(Causal{}, 1, 3), ShapeError);
}

TEST(Causal, B25_EndsAtTheLastKeyWhenLengthsDiffer) {
  EXPECT_EQ(to_string(Causal{}, 3, 5, {.query_offset = align_last}), "###..\n####.\n#####\n");
}

TEST(Causal, B26_KeepsItsAlignmentWhicheverSideIsLonger) {
  EXPECT_EQ(to_string(Causal{}, 2, 3, {.query_offset = align_last}), "##.\n###\n");
  EXPECT_EQ(to_string(Causal{}, 3, 2, {.query_offset = align_last}), "..\n#.\n##\n");
  EXPECT_EQ(to_string(Causal{}, 2, 3, {.query_offset = 0}), "#..\n##.\n");
  EXPECT_EQ(to_string(Causal{}, 3, 2, {.query_offset = 0}), "#.\n##\n##\n");
}

TEST(Causal, B28_ChunkOverACacheStartsAtItsOwnDiagonal) {
  EXPECT_EQ(to_string(Causal{}, 2, 4, {.query_offset = 2}), "###.\n####\n");
  EXPECT_EQ(to_string(Causal{}, 2, 1, {.query_offset = -1}), ".\n#\n");
}

TEST(Causal, B58_FollowsExplicitPositionsAfterEviction) {
  const std::array<Position, 1> query{3};
  const std::array<Position, 3> keys{0, 3, 4};
  EXPECT_EQ(to_string(Causal{}, 1, 3, {.query_positions = query, .key_positions = keys}), "##.\n");
}

}  // namespace
}  // namespace headwise::mask
