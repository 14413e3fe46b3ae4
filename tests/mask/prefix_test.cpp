#include <headwise/mask/algebra.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/picture.hpp>
#include <headwise/mask/prefix.hpp>

#include <gtest/gtest.h>

#include "support/mask_laws.hpp"

namespace headwise::mask {
namespace {

struct Prefixes {
  static auto masks() {
    return std::array{Prefix{}, Prefix{.length = 1}, Prefix{.length = 63}, Prefix{.length = 64},
                      Prefix{.length = 65}};
  }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(Prefix, MaskLaws, Prefixes);

struct PrefixesPerSequence {
  static auto masks() { return std::array{PrefixPerSequence{.lengths = {0, 65, 3}}}; }
  static std::vector<Context> contexts() {
    std::vector<Context> each(3);
    for (std::size_t i = 0; i < 3; ++i) {
      each[i].sequence = Index(i);
      each[i].sequences = 3;
    }
    return each;
  }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(PrefixPerSequence, MaskLaws, PrefixesPerSequence);

TEST(Prefix, WithCausalIsAPrefixLanguageModel) {
  namespace hw = headwise;
  // [docs mask/prefix]
  const auto prefix_model = hw::mask::Prefix{.length = 3} || hw::mask::Causal{};
  const std::string picture = hw::mask::to_string(prefix_model, 5, 5);
  // "###..\n"
  // "###..\n"
  // "###..\n"
  // "####.\n"
  // "#####\n"
  // [docs end]
  EXPECT_EQ(picture, "###..\n###..\n###..\n####.\n#####\n");
}

TEST(Prefix, NeedsNoOffset) { EXPECT_EQ(to_string(Prefix{.length = 2}, 1, 4), "##..\n"); }

TEST(Prefix, RefusesANegativeLength) {
  try {
    (void)to_string(Prefix{.length = -3}, 2, 2);
    FAIL() << "accepted a negative length";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "Prefix: length is -3, expected zero or more");
  }
}

TEST(PrefixPerSequence, GivesEachSequenceItsOwnLength) {
  const PrefixPerSequence prefix{.lengths = {1, 3}};
  EXPECT_EQ(to_string(prefix, 2, 4, {.sequence = 0, .sequences = 2}), "#...\n#...\n");
  EXPECT_EQ(to_string(prefix, 2, 4, {.sequence = 1, .sequences = 2}), "###.\n###.\n");
}

TEST(PrefixPerSequence, NamesWhatDoesNotFit) {
  const auto refusal = [](const PrefixPerSequence& prefix, Index sequence) -> std::string {
    try {
      (void)to_dense(prefix, 2, 4, {.sequence = sequence, .sequences = 2});
    } catch (const ShapeError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal({.lengths = {1}}, 0),
            "PrefixPerSequence: lengths is 1, expected 2; give one length for each sequence of the batch");
  EXPECT_EQ(refusal({.lengths = {1, -4}}, 1), "PrefixPerSequence: lengths[1] is -4, expected zero or more");
}

}  // namespace
}  // namespace headwise::mask
