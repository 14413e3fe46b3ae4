#include <headwise/attention/explain.hpp>
#include <headwise/attention/plans.hpp>
#include <headwise/mask/dilated_window.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/heads.hpp"
#include "support/mask_laws.hpp"
#include "support/pattern_laws.hpp"

namespace headwise::mask::dilated_window_test {
namespace {

struct Windows {
  static auto masks() {
    return std::array{DilatedWindow{.reach = 0, .dilation = 1},  DilatedWindow{.reach = 2, .dilation = 1},
                      DilatedWindow{.reach = 2, .dilation = 2},  DilatedWindow{.reach = 5, .dilation = 13},
                      DilatedWindow{.reach = 40, .dilation = 3}, DilatedWindow{.reach = 0, .dilation = 9}};
  }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(DilatedWindow, MaskLaws, Windows);

struct WindowsOfHeads {
  static std::vector<DilatedWindowPerHead> masks() { return {{.reach = 3, .dilations = {1, 2, 5}}}; }
  static std::vector<Context> contexts() {
    return {check::context_of(70, 0, 3), check::context_of(70, 1, 3), check::context_of(70, 2, 3)};
  }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(DilatedWindowPerHead, MaskLaws, WindowsOfHeads);

check::AnyMask definition(Index reach, Index dilation) {
  return [=](Index q, Index k) {
    const Index distance = std::abs(q - k);
    return distance <= reach * dilation && distance % dilation == 0;
  };
}

check::AnyMask window(Index reach, Index dilation) {
  return [=](Index q, Index k) { return std::abs(q - k) <= reach * dilation; };
}

TEST(DilatedWindow, LeavesGaps) {
  namespace hw = headwise;
  // [docs mask/dilated_window]
  const hw::mask::DilatedWindow window{.reach = 1, .dilation = 2};
  const std::string picture = hw::mask::to_string(window, 6, 6);
  // "#.#...\n"
  // ".#.#..\n"
  // "#.#.#.\n"
  // ".#.#.#\n"
  // "..#.#.\n"
  // "...#.#\n"
  // [docs end]
  EXPECT_EQ(picture, "#.#...\n.#.#..\n#.#.#.\n.#.#.#\n..#.#.\n...#.#\n");
}

TEST(DilatedWindow, ListsExactlyItsPairsForEveryLength) {
  for (const DilatedWindow mask : {DilatedWindow{0, 1}, DilatedWindow{2, 1}, DilatedWindow{2, 2},
                                   DilatedWindow{3, 5}, DilatedWindow{1, 69}, DilatedWindow{70, 3}}) {
    check::expect_plan_lists([&](Index n) { return mask.plan(n); },
                             [&](Index) { return definition(mask.reach, mask.dilation); },
                             window(mask.reach, mask.dilation));
  }
}

TEST(DilatedWindow, OverItsPlanIsDenseAttention) {
  for (const Index length : {1, 12, 65}) {
    check::PatternLaws(length, DilatedWindow{.reach = 3, .dilation = 4}.plan(length), definition(3, 4),
                       window(3, 4))
        .expect_all();
  }
}

TEST(DilatedWindow, HasThePublishedNumbers) {
  const auto gaps = check::attend_to_waves(DilatedWindow{.reach = 2, .dilation = 2});
  EXPECT_NEAR(check::checksum(gaps.output), 0.542818223173, 1e-11);
  EXPECT_NEAR(gaps.lse(5, 0), 1.648371042544, 1e-11);
  const auto plain = check::attend_to_waves(DilatedWindow{.reach = 2, .dilation = 1});
  EXPECT_NEAR(check::checksum(plain.output), 1.344558386899, 1e-11);
  EXPECT_NEAR(plain.lse(5, 0), 1.988266042815, 1e-11);
}

/// Each head its dilation, as mask and as plans.
TEST(DilatedWindow, ServesHeads) {
  const auto query = check::random(40, 6, 1), key = check::random(40, 3, 2), value = check::random(40, 3, 3);
  const AttendOptions options{.heads = 2, .kv_heads = 1};
  const DilatedWindowPerHead mask{.reach = 2, .dilations = {1, 3}};
  const auto expected = reference::attention(query, key, value, 2, 1, [](Index head) {
    reference::Problem problem;
    problem.allows = definition(2, head == 0 ? 1 : 3);
    return problem;
  });
  EXPECT_TRUE(check::near(attend(query, key, value, options, mask), expected, 1e-12));
  EXPECT_TRUE(check::near(
      attend_over(plans_of(mask, 40, 2), query, key, value, options, mask.window()).output, expected, 1e-12));
}

/// With w on each side: seq_len (2 w + 1) - w (w + 1) pairs, for each class of tokens.
TEST(DilatedWindow, CostsWhatTheFormulaSays) {
  const Index length = 4096, reach = 256;
  const auto pairs = [&](Index dilation) {
    const DilatedWindow mask{.reach = reach, .dilation = dilation};
    const Plans plans = plans_of(mask, length);
    return explain({.q_len = length, .k_len = length}, {}, mask.window(), &plans).pairs;
  };
  EXPECT_EQ(pairs(1), 2035456);
  EXPECT_EQ(pairs(4), 4 * (1024 * (2 * reach + 1) - reach * (reach + 1)));
}

TEST(DilatedWindow, RefusesGapsThatAreNone) {
  EXPECT_EQ(check::refusal([] { (void)to_dense(DilatedWindow{.reach = 1, .dilation = 0}, 3, 3); }),
            "DilatedWindow: dilation is 0, expected a positive number");
  EXPECT_EQ(check::refusal([] { (void)DilatedWindow{.reach = -1}.plan(3); }),
            "DilatedWindow: reach is -1, expected zero or more");
  const DilatedWindowPerHead mask{.reach = 1, .dilations = {1, 2}};
  EXPECT_EQ(check::refusal([&] { (void)to_dense(mask, 3, 3, {.heads = 3}); }),
            "DilatedWindowPerHead: dilations is 2, expected 3; one a head");
  EXPECT_EQ(check::refusal([&] { (void)plans_of(mask, 3, 3); }),
            "DilatedWindowPerHead: head is 2, expected 0 to 1");
}

}  // namespace
}  // namespace headwise::mask::dilated_window_test
