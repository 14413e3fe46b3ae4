#include "report/stopwatch.hpp"

#include <gtest/gtest.h>

namespace headwise::report {
namespace {

TEST(Stopwatch, TakesTheMedian) {
  EXPECT_EQ(summarise({3, 1, 2}).seconds, 2);
  EXPECT_EQ(summarise({4, 1, 2, 3}).seconds, 2.5);
  EXPECT_EQ(summarise({4, 1, 2, 3}).fastest, 1);
  EXPECT_EQ(summarise({7}).runs, 1);
}

TEST(Stopwatch, RunsAsOftenAsAllowedWhenCallsAreShort) {
  int calls = 0;
  const auto seconds = repeat([&calls] { ++calls; }, 60.0, 5);
  EXPECT_EQ(seconds.size(), 5U);
  EXPECT_EQ(calls, 6) << "five runs that count, and one to warm up";
}

TEST(Stopwatch, CountsTheOnlyRunThatFits) {
  int calls = 0;
  const auto seconds = repeat([&calls] { ++calls; }, 0.0, 5);
  ASSERT_EQ(seconds.size(), 1U);
  EXPECT_EQ(calls, 1);
  EXPECT_GE(seconds.front(), 0);
}

}  // namespace
}  // namespace headwise::report
