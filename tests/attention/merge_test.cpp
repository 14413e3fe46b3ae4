#include <headwise/attention/merge.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"

#include <cmath>
#include <limits>

namespace headwise {
namespace {

using check::near;
using check::random;

const double inf = std::numeric_limits<double>::infinity();

Attended<double> part(double output, double lse) {
  return {Matrix<double>::Constant(1, 1, output), Matrix<double>::Constant(1, 1, lse)};
}

TEST(Merge, JoinsDisjointKeysIntoTheWhole) {
  const auto query = random(7, 2 * 4, 1), key = random(19, 2 * 4, 2), value = random(19, 2 * 3, 3);
  const AttendOptions options{.heads = 2};
  const auto whole = attend_with_lse(query, key, value, options);
  const auto joined = merge(attend_with_lse(query, key.topRows(6), value.topRows(6), options),
                            attend_with_lse(query, key.bottomRows(13), value.bottomRows(13), options));
  EXPECT_TRUE(near(joined.output, whole.output, 1e-15));
  EXPECT_TRUE(near(joined.lse, whole.lse, 1e-14));
}

TEST(Merge, B10_KeepsTwoEmptyPartsEmpty) {
  const auto joined = merge(part(0, -inf), part(0, -inf));
  EXPECT_EQ(joined.output(0, 0), 0);
  EXPECT_EQ(joined.lse(0, 0), -inf);
}

TEST(Merge, B11_TreatsAnEmptySideAsNeutral) {
  const auto right = merge(part(7, -inf), part(4, std::log(3.0)));
  EXPECT_EQ(right.output(0, 0), 4);
  EXPECT_NEAR(right.lse(0, 0), 1.09861229, 1e-8);
  const auto both = merge(part(2, 0), part(4, std::log(3.0)));
  EXPECT_NEAR(both.output(0, 0), 3.5, 1e-15);
  EXPECT_NEAR(both.lse(0, 0), 1.38629436, 1e-8);
}

TEST(Merge, B11_RefusesAnInfiniteLogSumExp) {
  try {
    (void)merge(part(1, inf), part(1, 0));
    FAIL() << "accepted an lse of +inf";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "merge: lse is inf, expected a number or -inf");
  }
}

}  // namespace
}  // namespace headwise
