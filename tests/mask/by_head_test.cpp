#include <headwise/mask/algebra.hpp>
#include <headwise/mask/by_head.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/sliding_window.hpp>
#include <headwise/mask/strided.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/heads.hpp"
#include "support/mask_laws.hpp"
#include "support/pattern_laws.hpp"

namespace headwise::mask {
namespace {

struct Pairs {
  static auto masks() { return std::array{by_head(SlidingWindow{.width = 5}, Causal{})}; }
  static std::vector<Context> contexts() {
    return {check::context_of(70, 0, 3), check::context_of(70, 1, 3)};
  }
  static constexpr bool coverage_is_exact = true;
};
struct WithoutRuns {
  static auto masks() { return std::array{by_head(Strided{5}, SlidingWindow{.width = 3})}; }
  static std::vector<Context> contexts() { return Pairs::contexts(); }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(ByHead, MaskLaws, Pairs);
INSTANTIATE_TYPED_TEST_SUITE_P(ByHeadWithoutRuns, MaskLaws, WithoutRuns);

TEST(ByHead, EvenAndOddHeadsSeeByTheirOwnMask) {
  namespace hw = headwise;
  // [docs mask/by_head]
  const auto heads =
      hw::mask::by_head(hw::mask::SlidingWindow{.width = 3}, hw::mask::Strided{3} && hw::mask::Causal{});
  const std::string first = hw::mask::to_string(heads, 5, 5, {.head = 0, .heads = 2});
  const std::string second = hw::mask::to_string(heads, 5, 5, {.head = 1, .heads = 2});
  // first      second
  // "#....\n"  "#....\n"
  // "##...\n"  ".#...\n"
  // "###..\n"  "..#..\n"
  // ".###.\n"  "#..#.\n"
  // "..###\n"  ".#..#\n"
  // [docs end]
  EXPECT_EQ(first, "#....\n##...\n###..\n.###.\n..###\n");
  EXPECT_EQ(second, "#....\n.#...\n..#..\n#..#.\n.#..#\n");
}

TEST(ByHead, IsAttentionWithAMaskAHead) {
  const auto x = check::random(40, 12, 1);
  const auto mask = by_head(SlidingWindow{.width = 4}, Strided{4} && Causal{});
  const auto expected = reference::attention(x, x, x, 4, 4, [](Index head) {
    reference::Problem problem;
    problem.allows = [head](Index q, Index k) {
      return head % 2 == 0 ? 0 <= q - k && q - k < 4 : k <= q && (q - k) % 4 == 0;
    };
    return problem;
  });
  EXPECT_TRUE(check::near(attend(x, x, x, {.heads = 4}, mask), expected, 1e-12));
}

TEST(ByHead, PassesOnWhatItsMasksRefuse) {
  EXPECT_EQ(check::refusal([] { (void)to_dense(by_head(Causal{}, Strided{0}), 3, 3, {.heads = 2}); }),
            "Strided: stride is 0, expected a positive number");
}

}  // namespace
}  // namespace headwise::mask
