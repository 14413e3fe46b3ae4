#include <headwise/attention/linear.hpp>
#include <headwise/core/thread_pool.hpp>

#include <gtest/gtest.h>

#include "attention/linear_cases.hpp"
#include "support/thrown.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace headwise::linear_test {
namespace {

using check::near;
using check::random;

TEST(AttendLinear, RemembersInOneMatrix) {
  namespace hw = headwise;
  const auto query = random(100, 32, 1), key = random(100, 16, 2), value = random(100, 16, 3);
  const Matrix<double> decay = -random(100, 2, 4).cwiseAbs();
  // [docs attention/linear]
  const hw::LinearOptions options{.heads = 4, .kv_heads = 2};
  const hw::LinearRule<double> rule{.decay = decay};  // add .beta for the delta rule; or give none
  const auto [y, state] = hw::attend_linear_with_state(query, key, value, options, rule);

  // One token, from where the text stopped.
  const hw::Matrix<double> next =
      hw::attend_linear(query.row(0), key.row(0), value.row(0), options, {.decay = decay.row(0)}, state);
  // [docs end]
  const reference::LinearProblem problem{.heads = 4, .kv_heads = 2, .decay = decay};
  const auto expected = reference::linear_attention(query, key, value, problem, Matrix<double>::Zero(16, 8));
  EXPECT_TRUE(near(y, expected.output, 1e-12));
  EXPECT_TRUE(near(state, expected.state, 1e-12));
  const auto after = reference::linear_attention(query.row(0), key.row(0), value.row(0),
                                                 {.heads = 4, .kv_heads = 2, .decay = decay.row(0)}, state);
  EXPECT_TRUE(near(next, after.output, 1e-12));
}

/// Sizes around the chunk of 64.
TEST(AttendLinear, EveryRuleIsTheRecurrenceForAnyLength) {
  for (const Kind kind : every_kind) {
    for (const Index length : {0, 1, 2, 3, 63, 64, 65, 130}) {
      SCOPED_TRACE(name(kind) + ", " + std::to_string(length));
      const LinearCase c = linear_case(kind, length, {.heads = 4, .kv_heads = 2}, 1);
      const auto got = attend_linear_with_state(c.query, c.key, c.value, c.options, c.rule, c.state);
      const auto expected = c.expected();
      EXPECT_TRUE(near(got.output, expected.output, 1e-12));
      EXPECT_TRUE(near(got.state, expected.state, 1e-12));
    }
  }
}

TEST(AttendLinear, ValuesMayHaveNoColumns) {
  const auto got = attend_linear_with_state(random(9, 4, 1), random(9, 4, 2), Matrix<double>(9, 0));
  EXPECT_EQ(got.output.rows(), 9);
  EXPECT_EQ(got.state.rows(), 4);
}

TEST(AttendLinear, WithoutARuleIsCausalAttentionWithoutASoftmax) {
  const auto query = random(70, 5, 1), key = random(70, 5, 2), value = random(70, 3, 3);
  reference::Matrix scores = reference::product(query, key.transpose());
  for (Index i = 0; i < 70; ++i)
    for (Index j = i + 1; j < 70; ++j) scores(i, j) = 0;
  EXPECT_TRUE(near(attend_linear(query, key, value, {.scale = 1}), reference::product(scores, value), 1e-11));
}

TEST(AttendLinear, HasThePublishedNumbers) {
  const LinearCase c = published_case();
  const Matrix<double> by_head = c.rule.decay.col(0), beta = c.rule.beta;
  const auto expect = [&](const LinearRule<double>& rule, double output, double state) {
    const auto got = attend_linear_with_state(c.query, c.key, c.value, c.options, rule, c.state);
    EXPECT_NEAR(check::checksum(got.output), output, 1e-11);
    EXPECT_NEAR(check::checksum(got.state), state, 1e-11);
  };
  expect({}, 3.905844549439, 0.500222697203);
  expect({.decay = by_head}, 3.244010495153, 0.082132760725);
  expect({.beta = beta}, 1.499659791601, 0.264761942376);
  expect(c.rule, 1.224388320497, 0.027522807774);
}

/// The feature map elu(x) + 1 comes before the call; a column of ones beside the values makes the
/// denominator.
TEST(AttendLinear, WithAFeatureMapHasThePublishedNumbers) {
  const auto features = [](const Matrix<double>& x) -> Matrix<double> {
    return x.unaryExpr([](double each) { return each > 0 ? each + 1 : std::exp(each); });
  };
  Matrix<double> value(8, 5);
  value << check::waves(2, 8, 4), Matrix<double>::Ones(8, 1);
  const Matrix<double> sums =
      attend_linear(features(check::waves(0, 8, 4)), features(check::waves(1, 8, 4)), value, {.scale = 1});
  const Matrix<double> output = sums.leftCols(4).array().colwise() / sums.col(4).array();
  EXPECT_NEAR(check::checksum(output), 1.009814702579, 1e-11);
}

/// The call in pieces of `step` tokens, each from the state that the last one left.
LinearAttended<double> in_pieces(const LinearCase& c, Index step) {
  LinearAttended<double> result{Matrix<double>(c.query.rows(), c.value.cols()), c.state};
  for (Index t = 0; t < c.query.rows(); t += step) {
    const Index n = std::min(step, c.query.rows() - t);
    auto piece =
        attend_linear_with_state(c.query.middleRows(t, n), c.key.middleRows(t, n), c.value.middleRows(t, n),
                                 c.options, c.rule_of({t, t + n}), result.state);
    result.output.middleRows(t, n) = piece.output;
    result.state = std::move(piece.state);
  }
  return result;
}

TEST(AttendLinear, TokenByTokenIsTheWholeCall) {
  for (const Kind kind : every_kind) {
    SCOPED_TRACE(name(kind));
    const LinearCase c = linear_case(kind, 80, {.heads = 2}, 2);
    const auto whole = attend_linear_with_state(c.query, c.key, c.value, c.options, c.rule, c.state);
    for (const Index step : {1, 7, 64, 79}) {
      const auto got = in_pieces(c, step);
      EXPECT_TRUE(near(got.output, whole.output, 1e-12)) << step;
      EXPECT_TRUE(near(got.state, whole.state, 1e-12)) << step;
    }
  }
}

TEST(AttendLinear, SequencesOfABatchDoNotMeet) {
  for (const Kind kind : every_kind) {
    SCOPED_TRACE(name(kind));
    const RaggedRows rows = RaggedRows::from_lengths({13, 0, 70, 1});
    const LinearCase c = linear_case(kind, 84, {.heads = 4, .kv_heads = 2, .rows = rows}, 3);
    const auto got = attend_linear_with_state(c.query, c.key, c.value, c.options, c.rule, c.state);
    const Index state_rows = c.state.rows() / 4;
    for (Index s = 0; s < 4; ++s) {
      const Range r = rows[s];
      const auto alone =
          attend_linear_with_state(c.query.middleRows(r.begin, r.size()), c.key.middleRows(r.begin, r.size()),
                                   c.value.middleRows(r.begin, r.size()), {.heads = 4, .kv_heads = 2},
                                   c.rule_of(r), c.state.middleRows(s * state_rows, state_rows));
      EXPECT_EQ(got.output.middleRows(r.begin, r.size()), alone.output);
      EXPECT_EQ(got.state.middleRows(s * state_rows, state_rows), alone.state);
    }
  }
}

TEST(AttendLinear, AnyNumberOfThreadsGivesTheSameBits) {
  LinearCase c = linear_case(Kind::gated_delta_by_feature, 200, {.heads = 6, .kv_heads = 3}, 4);
  const auto serial = attend_linear_with_state(c.query, c.key, c.value, c.options, c.rule, c.state);
  for (const int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    c.options.executor = pool.executor();
    const auto got = attend_linear_with_state(c.query, c.key, c.value, c.options, c.rule, c.state);
    EXPECT_EQ(got.output, serial.output) << threads;
    EXPECT_EQ(got.state, serial.state) << threads;
  }
}

TEST(AttendLinear, ALaterTokenCannotReachAnEarlierOne) {
  for (const Kind kind : every_kind) {
    SCOPED_TRACE(name(kind));
    LinearCase c = linear_case(kind, 64, {}, 5);
    const Matrix<double> before = attend_linear(c.query, c.key, c.value, c.options, c.rule, c.state);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    c.query.row(41).setConstant(nan);
    c.key.row(41).setConstant(nan);
    c.value.row(41).setConstant(nan);
    if (c.rule.decay.cols() > 0) c.rule.decay.row(41).setConstant(nan);
    if (c.rule.beta.cols() > 0) c.rule.beta.row(41).setConstant(nan);
    const Matrix<double> after = attend_linear(c.query, c.key, c.value, c.options, c.rule, c.state);
    EXPECT_EQ(after.topRows(41), before.topRows(41));
    EXPECT_TRUE(after.row(41).array().isNaN().all());
  }
}

TEST(AttendLinear, ADecayOfMinusInfinityForgetsEverything) {
  LinearCase c = linear_case(Kind::gated_delta, 70, {}, 6);
  c.rule.decay(40, 0) = -std::numeric_limits<double>::infinity();
  const Matrix<double> got = attend_linear(c.query, c.key, c.value, c.options, c.rule, c.state);
  const Matrix<double> rest = attend_linear(c.query.bottomRows(30), c.key.bottomRows(30),
                                            c.value.bottomRows(30), c.options, c.rule_of({40, 70}));
  EXPECT_TRUE(near(got.bottomRows(30), rest, 1e-13));
}

TEST(AttendLinear, ComputesInFloatAndLongDoubleFromAnyLayout) {
  const LinearCase c = linear_case(Kind::gated_delta_by_feature, 70, {.heads = 2}, 7);
  const auto expected = c.expected();
  const LinearRule<float> in_float{c.rule.decay.cast<float>(), c.rule.beta.cast<float>()};
  const Eigen::MatrixXf columns = c.query.cast<float>();
  EXPECT_TRUE(near(attend_linear(columns, c.key.cast<float>(), c.value.cast<float>(), c.options, in_float,
                                 c.state.cast<float>()),
                   expected.output, 2e-6));
  using Long = long double;
  const LinearRule<Long> in_long{c.rule.decay.cast<Long>(), c.rule.beta.cast<Long>()};
  EXPECT_TRUE(near(attend_linear(c.query.cast<Long>(), c.key.cast<Long>(), c.value.cast<Long>(), c.options,
                                 in_long, c.state.cast<Long>()),
                   expected.output, 1e-13));
}

std::string refusal(const LinearCase& c, const Matrix<double>& state = {}) {
  return check::thrown<ShapeError>(
      [&] { (void)attend_linear(c.query, c.key, c.value, c.options, c.rule, state); });
}

TEST(AttendLinear, SaysWhatDoesNotFit) {
  const LinearCase good = linear_case(Kind::gated_delta, 4, {.heads = 4, .kv_heads = 2}, 8);
  EXPECT_EQ(refusal(good), "(nothing was thrown)");
  LinearCase c = good;
  c.options.heads = 3;
  EXPECT_EQ(refusal(c), "attend_linear: heads is 3, expected a multiple of 2 (kv_heads)");
  c = good;
  c.options.kv_heads = 0;
  EXPECT_EQ(refusal(c),
            "attend_linear: key columns is 10, expected a multiple of 4 (kv_heads); set .kv_heads for "
            "grouped keys");
  c = good;
  c.key = random(5, 10, 1);
  EXPECT_EQ(refusal(c), "attend_linear: key rows is 5, expected 4; a token has a query, a key and a value");
  c = good;
  c.options.rows = RaggedRows::from_lengths({1, 2});
  EXPECT_EQ(
      refusal(c),
      "attend_linear: query rows is 4, expected 3; the lengths of its sequences must add up to its rows");
  c = good;
  c.options.scale = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal(c), "attend_linear: scale is inf, expected a finite number");
  c = good;
  c.rule.decay = random(4, 5, 1);
  EXPECT_EQ(
      refusal(c),
      "attend_linear: decay columns is 5, expected 2 or 10; kv_heads, or a number for each key feature");
  c = good;
  c.rule.decay = random(3, 2, 1);
  EXPECT_EQ(refusal(c), "attend_linear: decay rows is 3, expected 4; one a token");
  c = good;
  c.rule.beta = random(4, 4, 1);
  EXPECT_EQ(refusal(c), "attend_linear: beta columns is 4, expected 1 or 2; one for all heads, or kv_heads");
  EXPECT_EQ(refusal(good, random(5, 3, 1)),
            "attend_linear: state rows is 5, expected 10; sequences * kv_heads * head_dim");
  EXPECT_EQ(refusal(good, random(10, 4, 1)), "attend_linear: state columns is 4, expected 3; value_dim");
}

}  // namespace
}  // namespace headwise::linear_test
