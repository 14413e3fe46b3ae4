#include "report/power_law.hpp"

#include <headwise/core/random.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace headwise::report {
namespace {

using Numbers = std::vector<double>;

Numbers lengths() {
  Numbers x;
  for (double n = 256; n <= 16384; n *= 2) x.push_back(n);
  return x;
}

TEST(PowerLaw, FindsAnExactLawExactly) {
  for (const double exponent : {0.0, 1.0, 1.5, 2.0, 3.0}) {
    const Numbers x = lengths();
    Numbers y;
    for (double n : x) y.push_back(3e-9 * std::pow(n, exponent));
    const PowerLaw law = fit_power_law(x, y);
    EXPECT_NEAR(law.exponent, exponent, 1e-12);
    EXPECT_NEAR(law.factor, 3e-9, 1e-19);
    EXPECT_NEAR(law.standard_error, 0, 1e-7);
    EXPECT_NEAR(law.r_squared, 1, 1e-12);
    EXPECT_EQ(law.points, 7);
    EXPECT_NEAR(law(1000), 3e-9 * std::pow(1000, exponent), 1e-12 * std::pow(1000, exponent));
  }
}

// By hand, with u = 0, 1, 2 and v = 0, 1, 3: mean v = 4/3, exponent = 3/2, residuals 1/6, -1/3, 1/6,
// sum of squares 1/6, standard error sqrt((1/6) / 1 / 2), r^2 = 1 - (1/6) / (14/3).
TEST(PowerLaw, AgreesWithLeastSquaresByHand) {
  const double e = std::exp(1.0);
  const PowerLaw law = fit_power_law(Numbers{1, e, e * e}, Numbers{1, e, e * e * e});
  EXPECT_NEAR(law.exponent, 1.5, 1e-14);
  EXPECT_NEAR(law.factor, std::exp(-1.0 / 6.0), 1e-14);
  EXPECT_NEAR(law.standard_error, std::sqrt(1.0 / 12.0), 1e-14);
  EXPECT_NEAR(law.r_squared, 1 - 1.0 / 28.0, 1e-14);
}

TEST(PowerLaw, StandardErrorCoversTheTruthUnderNoise) {
  Rng rng(1);
  int covered = 0;
  const int trials = 200;
  for (int trial = 0; trial < trials; ++trial) {
    const Numbers x = lengths();
    Numbers y;
    for (double n : x) y.push_back(2e-9 * n * n * std::exp(0.05 * rng.gaussian()));
    const PowerLaw law = fit_power_law(x, y);
    EXPECT_NEAR(law.exponent, 2, 0.12);
    EXPECT_GT(law.r_squared, 0.99);
    covered += std::abs(law.exponent - 2) < 2 * law.standard_error;
  }
  // Two standard errors with five degrees of freedom cover 89.8 %: 180 of 200, give or take 4.3.
  EXPECT_GT(covered, 160);
  EXPECT_LT(covered, 198);
}

TEST(PowerLaw, DoesNotCallAQuadraticWithOverheadCubic) {
  const Numbers x = lengths();
  Numbers y;
  for (double n : x) y.push_back(1e-4 + 2e-9 * n * n);
  const PowerLaw law = fit_power_law(x, y);
  EXPECT_GT(law.exponent, 1.7);
  EXPECT_LT(law.exponent, 2.0);
}

TEST(PowerLaw, HasNoErrorToStateForTwoPoints) {
  const PowerLaw law = fit_power_law(Numbers{1, 2}, Numbers{5, 20});
  EXPECT_NEAR(law.exponent, 2, 1e-14);
  EXPECT_TRUE(std::isnan(law.standard_error));
}

TEST(PowerLaw, RefusesWhatHasNoLogarithmOrNoSlope) {
  EXPECT_THROW((void)fit_power_law(Numbers{1}, Numbers{1}), std::invalid_argument);
  EXPECT_THROW((void)fit_power_law(Numbers{1, 2}, Numbers{1}), std::invalid_argument);
  EXPECT_THROW((void)fit_power_law(Numbers{2, 2}, Numbers{1, 3}), std::invalid_argument);
  EXPECT_THROW((void)fit_power_law(Numbers{1, 0}, Numbers{1, 3}), std::invalid_argument);
  EXPECT_THROW((void)fit_power_law(Numbers{1, 2}, Numbers{1, std::nan("")}), std::invalid_argument);
}

}  // namespace
}  // namespace headwise::report
