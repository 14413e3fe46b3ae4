#include <headwise/mask/none.hpp>
#include <headwise/mask/picture.hpp>

#include <gtest/gtest.h>

#include "support/mask_laws.hpp"

namespace headwise::mask {
namespace {

struct NoneSamples {
  static auto masks() { return std::array{None{}}; }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(None, MaskLaws, NoneSamples);

TEST(None, SeesEveryKeyWithoutAnOffset) {
  namespace hw = headwise;
  // [docs mask/none]
  const std::string picture = hw::mask::to_string(hw::mask::None{}, 2, 4);  // q_len 2, k_len 4
  // "####\n"
  // "####\n"
  // [docs end]
  EXPECT_EQ(picture, "####\n####\n");
}

TEST(None, NeedsNoQueryPosition) { static_assert(!needs_query_position<None>()); }

}  // namespace
}  // namespace headwise::mask
