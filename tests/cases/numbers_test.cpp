// Public reports about the numbers themselves: maxima, overflow, bases, sizes that are no multiple of a
// register.
#include <headwise/mask/none.hpp>

#include "support/attention_case.hpp"

#include <cmath>

namespace headwise {
namespace {

using check::column;
using check::expect_output;
using check::near;
using check::random;
using check::zeros;

/// One query of 1 against keys that are the logits.
void expect_of_logits(const Matrix<double>& logits, const Matrix<double>& value, double expected) {
  expect_output(column({1}), logits, value, column({expected}), {.scale = 1}, mask::None{});
}

TEST(Numbers, B13_TheLogSumExpIsNatural) {
  EXPECT_NEAR(attend_with_lse(zeros(1), zeros(2), zeros(2), mask::None{}).lse(0, 0), 0.69314718, 1e-8);
}

TEST(Numbers, B19_TheMaximumIsSubtracted) {
  expect_of_logits(column({1000, 1001}), column({0, 1}), 0.73105858);
}

TEST(Numbers, B22_LargeLogitsPickTheLargest) {
  expect_of_logits(column({213, 2384, -1208}), column({1, 2, 4}), 2);
}

TEST(Numbers, B20_SixteenBitNumbersAreComputedInFloat) {
  // The dot product 131072 does not fit a half; stored in 16 bits it is computed in float all the same.
  using Half = Matrix<Eigen::half>;
  Half query(1, 2), key(2, 2), value(2, 1);
  query << Eigen::half(256.f), Eigen::half(256.f);
  key << Eigen::half(256.f), Eigen::half(256.f), Eigen::half(-256.f), Eigen::half(-256.f);
  value << Eigen::half(1.f), Eigen::half(2.f);
  EXPECT_EQ(attend(query.cast<float>(), key.cast<float>(), value.cast<float>())(0, 0), 1.0f);
}

TEST(Numbers, B40_AMaskOfAllTrueChangesNoBit) {
  const auto query = random(8, 16, 1), key = random(8, 16, 2), value = random(8, 16, 3);
  const auto all = [](Index, Index) { return true; };
  EXPECT_EQ(attend(query, key, value, all), attend(query, key, value, mask::None{}));
}

TEST(Numbers, B113_EveryElementOfAHeadCounts) {
  for (const auto& [dim, expected] : {std::pair<Index, double>{3, 1.41425322}, {72, 1.15485012}}) {
    Matrix<double> key(2, dim);
    key.row(0).setConstant(1);
    key.row(1).setConstant(-1);
    expect_output(Matrix<double>::Constant(1, dim, 0.1), key, column({1, 2}), column({expected}), {},
                  mask::None{});
  }
}

TEST(Numbers, B115_LanesPastTheEndWeighNothing) {
  expect_output(column({1}), Matrix<double>::Constant(5, 1, -10), column({1, 2, 4, 8, 16}), column({6.2}),
                {.scale = 1}, mask::None{});
}

}  // namespace
}  // namespace headwise
