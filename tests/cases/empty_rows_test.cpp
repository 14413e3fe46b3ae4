// Public reports about rows that see nothing: an empty set of keys contributes nothing, forward or backward.
#include <headwise/mask/none.hpp>

#include "support/attention_case.hpp"

namespace headwise {
namespace {

using check::AnyMask;
using check::column;
using check::expect_output;
using check::infinity;
using check::near;
using check::zeros;

Matrix<double> two_by_two(double a, double b, double c, double d) {
  Matrix<double> m(2, 2);
  m << a, b, c, d;
  return m;
}

const AnyMask first_sees_first = [](Index q, Index k) { return q == 0 && k == 0; };
const AnyMask first_sees_all = [](Index q, Index) { return q == 0; };

TEST(EmptyRows, B01_AnUnusedEmptyRowLeavesGradientsFinite) {
  const auto query = column({1, 1}), key = column({1, 2}), value = column({3, 5}), d = column({1, 0});
  expect_output(query, key, value, column({4.46211716, 0}), {}, first_sees_all);
  const auto g =
      attend_backward(query, key, value, attend_with_lse(query, key, value, AttendOptions{}, first_sees_all),
                      d, AttendOptions{}, first_sees_all);
  EXPECT_TRUE(near(g.value, column({0.26894142, 0.73105858}), 1e-8));
  EXPECT_TRUE(near(g.query, column({0.39322387, 0}), 1e-8));
  EXPECT_TRUE(near(g.key, column({-0.39322387, 0.39322387}), 1e-8));
}

TEST(EmptyRows, B02_AnAllFalseRowIsZeroAndMinusInfinity) {
  const Matrix<double> identity = Matrix<double>::Identity(2, 2), value = two_by_two(1, 2, 3, 4);
  expect_output(identity, identity, value, two_by_two(1, 2, 0, 0), {}, first_sees_first);
  EXPECT_EQ(attend_with_lse(identity, identity, value, AttendOptions{}, first_sees_first).lse(1, 0),
            -infinity);
}

TEST(EmptyRows, B04_EveryPathAgreesOnAnEmptyRow) {
  const AnyMask window_of_real_keys = [](Index q, Index k) { return k == 0 && k <= q && q - k < 2; };
  expect_output(zeros(4), zeros(4), column({1, 2, 4, 8}), column({1, 1, 0, 0}), {}, window_of_real_keys);
}

TEST(EmptyRows, B07_TheGuardStandsBeforeTheExponential) {
  const Matrix<double> identity = Matrix<double>::Identity(2, 2), value = two_by_two(1, 2, 3, 4);
  const auto attended = attend_with_lse(identity, identity, value, AttendOptions{}, first_sees_first);
  const auto g = attend_backward(identity, identity, value, attended, Matrix<double>::Ones(2, 2),
                                 AttendOptions{}, first_sees_first);
  EXPECT_TRUE(g.query.isZero(0.0));
  EXPECT_TRUE(g.key.isZero(0.0));
  EXPECT_TRUE(near(g.value, two_by_two(1, 1, 0, 0), 1e-15));
}

TEST(EmptyRows, B08_AnEmptyRowDoesNotSpreadThroughTheNextLayer) {
  const AnyMask second_sees_all = [](Index q, Index) { return q == 1; };
  const auto x = column({1, 3});
  expect_output(x, x, x, column({0, 2.99505475}), {}, second_sees_all);
  const auto y = attend(x, x, x, AttendOptions{}, second_sees_all);
  expect_output(y, y, y, column({0, 2.99467406}), {}, second_sees_all);
}

TEST(EmptyRows, B28_AChunkBeyondTheValidKeysIsComposedWithPadding) {
  // One valid key of two; the queries stand at -1 and 0 of the valid part: nothing, then key 0.
  const AnyMask causal_valid = [](Index q, Index k) { return k <= q && k < 1; };
  expect_output(zeros(2), zeros(2), column({1, 7}), column({0, 1}), {.query_offset = -1}, causal_valid);
}

TEST(EmptyRows, B119_AnItemOfLengthZeroIsNothing) {
  const AttendOptions options{.query_rows = RaggedRows::from_lengths({1, 1}),
                              .key_rows = RaggedRows::from_lengths({0, 2})};
  expect_output(zeros(2), zeros(2), column({1, 3}), column({0, 2}), options, mask::None{});
}

TEST(EmptyRows, B121_NoKeysAtAll) {
  const auto result = attend_with_lse(zeros(2), zeros(0), zeros(0), mask::None{});
  EXPECT_TRUE(result.output.isZero(0.0));
  EXPECT_EQ(result.output.rows(), 2);
  EXPECT_EQ(result.lse(0, 0), -infinity);
  EXPECT_EQ(result.lse(1, 0), -infinity);
}

}  // namespace
}  // namespace headwise
