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
  const Timing timing = measure([&calls] { ++calls; }, 60.0, 5);
  EXPECT_EQ(timing.runs, 5);
  EXPECT_EQ(calls, 6) << "five runs that count, and one to warm up";
}

TEST(Stopwatch, CountsTheOnlyRunThatFits) {
  int calls = 0;
  const Timing timing = measure([&calls] { ++calls; }, 0.0, 5);
  EXPECT_EQ(timing.runs, 1);
  EXPECT_EQ(calls, 1);
  EXPECT_GE(timing.seconds, 0);
}

}  // namespace
}  // namespace headwise::report
