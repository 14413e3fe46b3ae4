#include <headwise/kernel/log_sum_exp.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace headwise::kernel {
namespace {

const double inf = std::numeric_limits<double>::infinity();

TEST(LogSumExp, AddsInTheLogarithm) {
  EXPECT_NEAR(log_add(std::log(2.0), std::log(3.0)), std::log(5.0), 1e-15);
  EXPECT_NEAR(log_add(1000.0, 1000.0), 1000.0 + std::log(2.0), 1e-12);
  EXPECT_EQ(log_add(1000.0, -1000.0), 1000.0);
}

TEST(LogSumExp, HasMinusInfinityAsItsNeutralElement) {
  EXPECT_EQ(log_add(-inf, 3.5), 3.5);
  EXPECT_EQ(log_add(3.5, -inf), 3.5);
  EXPECT_EQ(log_add(-inf, -inf), -inf);
}

TEST(LogSumExp, GivesAnEmptyPartNoShare) {
  EXPECT_EQ(share(-inf, 1.0), 0.0);
  EXPECT_EQ(share(-inf, -inf), 0.0);
  EXPECT_NEAR(share(std::log(2.0), std::log(8.0)), 0.25, 1e-15);
}

TEST(LogSumExp, SeesAllButMinusInfinity) {
  EXPECT_FALSE(is_seen(hidden<float>()));
  EXPECT_TRUE(is_seen(std::numeric_limits<float>::lowest()));
  EXPECT_TRUE(is_seen(std::numeric_limits<float>::quiet_NaN()));
}

}  // namespace
}  // namespace headwise::kernel
