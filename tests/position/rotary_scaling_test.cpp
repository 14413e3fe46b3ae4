#include <headwise/position/rotary.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/thrown.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace headwise::position::rotary_scaling_test {
namespace {

using check::thrown;

Rotary stretched(Index r, const RotaryScaling& scaling, double theta = 10000) {
  return Rotary({.head_dim = r, .theta = theta, .scaling = scaling});
}

void expect_frequencies(const RotaryFrequencies& got, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(got.angular.size(), expected.size());
  for (std::size_t t = 0; t < expected.size(); ++t) {
    EXPECT_NEAR(got.angular[t], expected[t], tolerance * expected[t]) << "pair " << t;
  }
}

TEST(RotaryScaling, ThePlainGrid) {
  const auto plain = Rotary({.head_dim = 8}).frequencies();
  expect_frequencies(plain, {1, 0.1, 0.01, 0.001}, 1e-15);
  EXPECT_EQ(plain.magnitude, 1);
}

TEST(RotaryScaling, FrequenciesUseTheRotaryWidthNotTheHeads) {
  expect_frequencies(Rotary({.head_dim = 64, .rotary_dim = 8}).frequencies(), {1, 0.1, 0.01, 0.001}, 1e-15);
}

TEST(RotaryScaling, LinearDividesEveryFrequency) {
  expect_frequencies(stretched(8, LinearScaling{.factor = 4}).frequencies(), {0.25, 0.025, 0.0025, 0.00025},
                     1e-15);
}

TEST(RotaryScaling, LinearIsTheSameAsPositionsDividedByTheFactor) {
  const auto x = check::random(3, 8, 1);
  const std::vector<Position> far{40, 80, 4000}, near_by{10, 20, 1000};
  EXPECT_TRUE(check::near(rotate(x, stretched(8, LinearScaling{.factor = 4}), 1, far),
                          rotate(x, Rotary({.head_dim = 8}), 1, near_by), 1e-12));
}

TEST(RotaryScaling, NtkKeepsTheFastestPairAndDividesTheSlowest) {
  expect_frequencies(stretched(8, NtkScaling{.factor = 4}).frequencies(),
                     {1, 0.06299605249474, 0.00396850262992, 0.00025}, 1e-12);
  expect_frequencies(stretched(8, {}, 63496.04207873).frequencies(),
                     stretched(8, NtkScaling{.factor = 4}).frequencies().angular, 1e-12);
}

TEST(RotaryScaling, ASinglePairTurnsOnePerPositionUnderEveryBase) {
  EXPECT_EQ(stretched(2, NtkScaling{.factor = 4}).frequencies().angular, std::vector<double>{1});
  EXPECT_EQ(stretched(2, DynamicNtkScaling{.factor = 4}).frequencies(99999).angular, std::vector<double>{1});
}

TEST(RotaryScaling, DynamicNtkFollowsTheLength) {
  const Rotary rotary = stretched(8, DynamicNtkScaling{.factor = 2, .trained_len = 2048});
  expect_frequencies(rotary.frequencies(4096), stretched(8, {}, 43267.487109222).frequencies().angular,
                     1e-12);
  for (Index within : {1, 2048}) expect_frequencies(rotary.frequencies(within), {1, 0.1, 0.01, 0.001}, 1e-15);
}

/// A base that is not reset after a long text was a published mistake: nothing is remembered between calls.
TEST(RotaryScaling, DynamicNtkForgetsALongText) {
  const Rotary rotary = stretched(8, DynamicNtkScaling{.factor = 2, .trained_len = 16});
  const auto before = rotary.table<double>(consecutive(8), 8);
  (void)rotary.table<double>(consecutive(64), 64);
  EXPECT_TRUE(check::near(rotary.table<double>(consecutive(8), 8).cosines, before.cosines, 0));
}

TEST(RotaryScaling, DynamicNtkAsksForTheLength) {
  const Rotary rotary = stretched(8, DynamicNtkScaling{.factor = 2});
  EXPECT_EQ(thrown<ShapeError>([&] { (void)rotary.table<double>(consecutive(3)); }),
            "Rotary: seq_len is not given, expected the length of the whole text; this scaling changes with "
            "it: use one "
            "length for query and key, and keep unrotated keys in a cache");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)rotary.frequencies(0); }),
            "Rotary: seq_len is 0, expected a positive number");
}

TEST(RotaryScaling, YarnBlendsBetweenTwoPairs) {
  const auto yarn = stretched(8, YarnScaling{.factor = 4, .trained_len = 2048}).frequencies();
  expect_frequencies(yarn, {1, 0.1, 0.00625, 0.00025}, 1e-12);
  EXPECT_NEAR(yarn.magnitude, 1.138629436112, 1e-12);
}

TEST(RotaryScaling, YarnMayKeepTheEndsOfItsRampReal) {
  const auto yarn =
      stretched(8, YarnScaling{.factor = 4, .trained_len = 2048, .truncate = false}).frequencies();
  EXPECT_NEAR(yarn.angular[2], 0.005056971521, 1e-12);
  EXPECT_NEAR((0.01 - yarn.angular[2]) / (0.01 - 0.0025), 0.659070463849, 1e-9);
}

TEST(RotaryScaling, YarnTakesAnExplicitFactorAndAppliesItOnce) {
  const Rotary rotary = stretched(8, YarnScaling{.factor = 4, .attention_factor = 2.0});
  EXPECT_EQ(rotary.frequencies().magnitude, 2);
  const auto x = check::random(1, 8, 1);
  EXPECT_NEAR(rotate(x, rotary, 1, 500).norm(), 2 * x.norm(), 1e-12);
}

TEST(RotaryScaling, YarnWithoutStretchIsPlain) {
  const auto yarn = stretched(8, YarnScaling{.factor = 1}).frequencies();
  expect_frequencies(yarn, {1, 0.1, 0.01, 0.001}, 1e-15);
  EXPECT_EQ(yarn.magnitude, 1);
}

TEST(RotaryScaling, YarnDividesAllOfAVeryShortModelAndNothingOfAVeryLongOne) {
  const auto shortest = stretched(8, YarnScaling{.factor = 4, .trained_len = 1}).frequencies();
  expect_frequencies(shortest, {1, 0.025, 0.0025, 0.00025}, 1e-12);
  const auto longest = stretched(8, YarnScaling{.factor = 4, .trained_len = Index(1) << 50}).frequencies();
  expect_frequencies(longest, {1, 0.1, 0.01, 0.001}, 1e-15);
}

TEST(RotaryScaling, Llama3BlendsByWavelength) {
  const auto ratios = [](Index r) {
    const auto got = stretched(r, Llama3Scaling{}, 500000).frequencies().angular;
    const auto plain = stretched(r, {}, 500000).frequencies().angular;
    std::vector<double> result;
    for (std::size_t t = 0; t < got.size(); ++t) result.push_back(got[t] / plain[t]);
    return result;
  };
  const std::vector<double> small{1, 1, 1, 1, 0.371122279518, 0.125, 0.125, 0.125};
  for (std::size_t t = 0; t < 8; ++t) EXPECT_NEAR(ratios(16)[t], small[t], 1e-12);

  const auto large = ratios(128);
  for (std::size_t t = 0; t <= 28; ++t) EXPECT_NEAR(large[t], 1, 1e-15) << t;
  EXPECT_NEAR(large[29], 0.828168411837, 1e-12);
  EXPECT_NEAR(large[34], 0.190210743641, 1e-12);
  for (std::size_t t = 30; t < 34; ++t) EXPECT_LT(large[t], large[t - 1]);
  for (std::size_t t = 35; t < 64; ++t) EXPECT_NEAR(large[t], 0.125, 1e-15) << t;
}

TEST(RotaryScaling, LongRopeChoosesItsListByTheLength) {
  const Rotary rotary = stretched(
      4, LongRopeScaling{.short_factors = {1, 2}, .long_factors = {4, 8}, .trained_len = 16, .factor = 4});
  expect_frequencies(rotary.frequencies(16), {1, 0.005}, 1e-15);
  expect_frequencies(rotary.frequencies(17), {0.25, 0.00125}, 1e-15);
  EXPECT_NEAR(rotary.frequencies(17).magnitude, std::sqrt(1 + std::log(4.0) / std::log(16.0)), 1e-15);
  EXPECT_THROW((void)rotary.frequencies(), ShapeError);
}

TEST(RotaryScaling, NamesTheSettingThatIsWrong) {
  const auto error = [](const RotaryScaling& scaling) {
    return thrown<ShapeError>([&] { (void)stretched(8, scaling); });
  };
  const std::string small = "Rotary: factor is 0.5, expected a finite number of at least 1";
  EXPECT_EQ(error(LinearScaling{.factor = 0.5}), small);
  EXPECT_EQ(error(NtkScaling{.factor = 0.5}), small);
  EXPECT_EQ(error(DynamicNtkScaling{.factor = 0.5}), small);
  EXPECT_EQ(error(YarnScaling{.factor = 0.5}), small);
  EXPECT_EQ(error(Llama3Scaling{.factor = 0.5}), small);
  EXPECT_EQ(error(LongRopeScaling{.factor = 0.5}), small);
  EXPECT_EQ(error(LinearScaling{.factor = std::numeric_limits<double>::infinity()}),
            "Rotary: factor is inf, expected a finite number of at least 1");
  EXPECT_EQ(error(YarnScaling{.trained_len = 0}), "Rotary: trained_len is 0, expected a positive number");
  EXPECT_EQ(error(YarnScaling{.beta_fast = 1, .beta_slow = 2}),
            "Rotary: beta_fast is 1, expected a finite number of at least 2");
  EXPECT_EQ(error(YarnScaling{.attention_factor = 0.0}),
            "Rotary: attention_factor is 0, expected a finite number above 0");
  EXPECT_EQ(error(Llama3Scaling{.low_freq_factor = 4}),
            "Rotary: high_freq_factor is 4, expected a finite number above 4");
  EXPECT_EQ(error(LongRopeScaling{.short_factors = {1, 1, 1, 1}, .long_factors = {1}}),
            "Rotary: number of long_factors is 1, expected 4; one for each pair");
  EXPECT_EQ(error(LongRopeScaling{.short_factors = {1, 1, 0, 1}, .long_factors = {1, 1, 1, 1}}),
            "Rotary: a short factor is 0, expected a finite number above 0");
}

}  // namespace
}  // namespace headwise::position::rotary_scaling_test
