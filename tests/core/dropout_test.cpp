#include <headwise/core/dropout.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace headwise {
namespace {

TEST(Dropout, B125_DividesWhatItKeepsByOneMinusTheRate) {
  const DropoutFactor<double> half({.rate = 0.5, .seed = 1}, 0), quarter({.rate = 0.25, .seed = 1}, 0);
  for (Index key = 0; key < 100; ++key) {
    EXPECT_TRUE(half(3, key) == 0 || half(3, key) == 2);
    EXPECT_TRUE(quarter(3, key) == 0 || quarter(3, key) == 1 / 0.75);
  }
}

TEST(Dropout, B127_KeepsEverythingUnchangedAtRateZero) {
  const DropoutFactor<float> none({.rate = 0, .seed = 1}, 0);
  for (Index row = 0; row < 1000; ++row) EXPECT_EQ(none(row, 7), 1.0f);
}

// The definition, from Philox itself: the first word of counter (query row, key row, head, layer) under the
// seed.
TEST(Dropout, IsAFunctionOfSeedLayerHeadAndRows) {
  const Dropout dropout{.rate = 0.3, .seed = 0x123456789abcdefu, .layer = 5};
  const DropoutFactor<double> factor(dropout, 11);
  for (Index query = 0; query < 30; ++query) {
    for (Index key = 0; key < 30; ++key) {
      const std::uint32_t word =
          philox({std::uint32_t(query), std::uint32_t(key), 11, 5}, {0x89abcdefu, 0x01234567u})[0];
      EXPECT_EQ(factor(query, key), double(word) < 0.3 * 4294967296.0 ? 0 : 1 / 0.7);
    }
  }
}

TEST(Dropout, B128_DrawsTheSameAgainAndOtherwiseWhenAnyCoordinateChanges) {
  const Dropout base{.rate = 0.5, .seed = 3, .layer = 1};
  const auto differences = [&](const Dropout& other, Index head, Index shift_query, Index shift_key) {
    const DropoutFactor<double> a(base, 2), b(other, head);
    int count = 0;
    for (Index i = 0; i < 1000; ++i) count += a(i, 1000 - i) != b(i + shift_query, 1000 - i + shift_key);
    return count;
  };
  EXPECT_EQ(differences(base, 2, 0, 0), 0);
  constexpr double expected = 500, tolerance = 5 * 15.8;  // a fair coin's 1000 tosses
  EXPECT_NEAR(differences({.rate = 0.5, .seed = 4, .layer = 1}, 2, 0, 0), expected, tolerance);
  EXPECT_NEAR(differences({.rate = 0.5, .seed = 3, .layer = 2}, 2, 0, 0), expected, tolerance);
  EXPECT_NEAR(differences(base, 3, 0, 0), expected, tolerance);
  EXPECT_NEAR(differences(base, 2, 1, 0), expected, tolerance);
  EXPECT_NEAR(differences(base, 2, 0, 1), expected, tolerance);
}

TEST(Dropout, DropsItsRate) {
  for (double rate : {0.01, 0.1, 0.5, 0.9}) {
    const DropoutFactor<double> factor({.rate = rate, .seed = 9}, 0);
    constexpr Index n = 300;
    double dropped = 0, mean = 0;
    for (Index query = 0; query < n; ++query) {
      for (Index key = 0; key < n; ++key) {
        dropped += factor(query, key) == 0 ? 1 : 0;
        mean += factor(query, key) / double(n * n);
      }
    }
    const double deviation = std::sqrt(rate * (1 - rate) / double(n * n));
    EXPECT_NEAR(dropped / double(n * n), rate, 5 * deviation);
    EXPECT_NEAR(mean, 1, 5 * deviation / (1 - rate)) << "weights keep their expectation";
  }
}

}  // namespace
}  // namespace headwise
