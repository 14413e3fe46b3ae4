#include <headwise/score/soft_cap.hpp>

#include <gtest/gtest.h>

#include "support/score_laws.hpp"

#include <cmath>
#include <limits>

namespace headwise::score {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(SoftCap, ScoreLaws, SoftCap);

template <class Scalar>
auto bound(double limit) {
  return bind_score<Scalar>(SoftCap{.limit = limit}, Context{});
}

TEST(SoftCap, IsTheHyperbolicTangentOfTheScoreInUnitsOfTheLimit) {
  for (double s : {-90.0, -30.0, -1.0, 0.0, 1e-3, 7.0, 45.0}) {
    EXPECT_NEAR(bound<double>(30)(s, 0, 0), 30 * std::tanh(s / 30), 30 * 1e-15);
  }
}

TEST(SoftCap, KeepsSmallScoresAndTheirSign) {
  EXPECT_NEAR(bound<double>(50)(0.01, 3, 1), 0.01, 0.01 * 1e-7);
  EXPECT_NEAR(bound<double>(50)(-0.01, 3, 1), -0.01, 0.01 * 1e-7);
}

/// logits 5000 and -5000 with a limit of 50: a quotient of exponentials gives NaN above 88 limits.
TEST(SoftCap, B16_SaturatesWithoutNan) {
  for (double s : {5000.0, 1e30, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(bound<double>(50)(s, 0, 0), 50.0);
    EXPECT_EQ(bound<double>(50)(-s, 0, 0), -50.0);
    EXPECT_EQ(bound<float>(50)(float(s), 0, 0), 50.0f);
    EXPECT_EQ(bound<double>(50).pull_back(s, 0, 0, 1.0).score, 0.0);
    EXPECT_EQ(bound<float>(50).pull_back(float(-s), 0, 0, 1.0f).score, 0.0f);
  }
}

TEST(SoftCap, RefusesALimitThatIsNotPositive) {
  for (double limit : {0.0, -1.0, std::numeric_limits<double>::infinity()})
    EXPECT_THROW(check_score(SoftCap{.limit = limit}, Context{}), ShapeError);
  try {
    check_score(SoftCap{.limit = -1}, Context{});
    FAIL() << "accepted a negative limit";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "SoftCap: limit is -1.000000, expected a positive number");
  }
}

}  // namespace
}  // namespace headwise::score
