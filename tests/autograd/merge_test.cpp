#include <headwise/autograd/elementwise.hpp>
#include <headwise/autograd/merge.hpp>
#include <headwise/autograd/rows.hpp>
#include <headwise/mask/where.hpp>

#include <gtest/gtest.h>

#include "autograd/laws.hpp"

namespace headwise::merge_test {
namespace {

using check::near;
using check::random;

/// The loss reads output and log-sum-exp.
template <class Attended>
auto loss_of(const Attended& attended, const Matrix<double>& d_output, const Matrix<double>& d_lse) {
  return add(sum(multiply_elementwise(attended.output, d_output)),
             sum(multiply_elementwise(attended.lse, d_lse)));
}

TEST(MergeOnTape, HasTheGradientsOfAttentionOverAllKeys) {
  const Matrix<double> d_output = random(5, 4, 4), d_lse = random(5, 2, 5);
  autograd::Tape<double> tape;
  const auto query = tape.input(random(5, 6, 1)), key = tape.input(random(7, 6, 2)),
             value = tape.input(random(7, 4, 3));
  const AttendOptions options{.heads = 2, .query_offset = 0};
  const auto whole = attend_with_lse(query, key, value, options);
  const auto first = attend_with_lse(query, slice_rows(key, 0, 3), slice_rows(value, 0, 3), options);
  const auto second = attend_with_lse(query, slice_rows(key, 3, 4), slice_rows(value, 3, 4), options);
  const auto merged = merge(first, second);
  EXPECT_TRUE(near(merged.output.value(), whole.output.value(), 1e-14));

  const auto expected = backward(loss_of(whole, d_output, d_lse)),
             got = backward(loss_of(merged, d_output, d_lse));
  for (const auto& input : {query, key, value})
    EXPECT_TRUE(near(got.of(input), expected.of(input), 1e-13)) << "input " << input.node();
}

TEST(MergeOnTape, APartThatSeesNothingGetsNothing) {
  autograd::Tape<double> tape;
  const auto x = tape.input(random(4, 6, 1)), y = tape.input(random(4, 6, 2));
  const auto nothing = mask::where([](Index, Index) { return false; });
  const auto merged = merge(attend_with_lse(x, x, x), attend_with_lse(x, y, y, {}, nothing));
  const auto gradients = backward(merged.output, random(4, 6, 3));
  EXPECT_TRUE(gradients.of(y).isZero(0));
  EXPECT_TRUE(gradients.of(x).allFinite());
  EXPECT_FALSE(gradients.of(x).isZero(0));
}

}  // namespace
}  // namespace headwise::merge_test
