#include <headwise/attention/linear_backward.hpp>
#include <headwise/core/thread_pool.hpp>

#include <gtest/gtest.h>

#include "attention/linear_cases.hpp"
#include "support/thrown.hpp"

#include <array>
#include <complex>
#include <limits>

namespace headwise::linear_test {
namespace {

using check::near;
using check::random;
using Complex = std::complex<double>;

/// The call's operands in one row, so that a loop reaches each.
template <class Scalar>
using Operands = std::array<Matrix<Scalar>, 6>;

Operands<double> operands_of(const LinearCase& c) {
  return {c.query, c.key, c.value, c.rule.decay, c.rule.beta, c.state};
}
Operands<double> operands_of(const LinearGradients<double>& g) {
  return {g.query, g.key, g.value, g.rule.decay, g.rule.beta, g.state};
}

/// The derivative of sum(output o d_output) + sum(state o d_state) in one number, by a complex step.
double slope(const LinearCase& c, std::size_t operand, Index number, const Matrix<double>& d_output,
             const Matrix<double>& d_state) {
  constexpr double step = 1e-30;
  const Operands<double> real = operands_of(c);
  Operands<Complex> x;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = real[i].cast<Complex>();
  x[operand].data()[number] += Complex(0, step);
  const auto y = attend_linear_with_state(x[0], x[1], x[2], c.options, {x[3], x[4]}, x[5]);
  return (y.output.imag().cwiseProduct(d_output).sum() + y.state.imag().cwiseProduct(d_state).sum()) / step;
}

/// Every so many numbers of an operand's gradient, against the slope.
void expect_slopes(const LinearCase& c, std::size_t operand, const Matrix<double>& got,
                   const Matrix<double>& d_output, const Matrix<double>& d_state) {
  const Matrix<double> numbers = operands_of(c)[operand];
  Matrix<double> expected = got;
  for (Index i = 0; i < got.size(); i += 17) expected.data()[i] = slope(c, operand, i, d_output, d_state);
  EXPECT_TRUE(near(got, expected, 1e-12, 1e-12)) << "operand " << operand;
  EXPECT_EQ(got.rows(), numbers.rows()) << "operand " << operand;
  EXPECT_EQ(got.cols(), numbers.cols()) << "operand " << operand;
}

/// More than two chunks, of which backward keeps the states.
TEST(AttendLinearBackward, HasTheGradientsOfAllThatWasGiven) {
  for (const Kind kind : every_kind) {
    SCOPED_TRACE(name(kind));
    const RaggedRows rows = RaggedRows::from_lengths({131, 0, 5});
    const LinearCase c = linear_case(kind, 136, {.heads = 4, .kv_heads = 2, .rows = rows}, 1);
    const auto d_output = random(136, 12, 2), d_state = random(c.state.rows(), 3, 3);
    const Operands<double> got = operands_of(
        attend_linear_backward(c.query, c.key, c.value, d_output, c.options, c.rule, c.state, d_state));
    for (std::size_t i = 0; i < got.size(); ++i) expect_slopes(c, i, got[i], d_output, d_state);
  }
}

TEST(AttendLinearBackward, HasThePublishedNumbers) {
  const LinearCase c = published_case();
  const auto got = attend_linear_backward(c.query, c.key, c.value, check::checksum_weights(8, 4), c.options,
                                          c.rule, c.state);
  EXPECT_NEAR(check::checksum(got.query), 0.647170758521, 1e-11);
  EXPECT_NEAR(check::checksum(got.key), -0.123641311018, 1e-11);
  EXPECT_NEAR(check::checksum(got.value), 8.198212020209, 1e-11);
  EXPECT_NEAR(got.rule.decay.sum(), 1.087509412171, 1e-11);
  EXPECT_NEAR(got.rule.beta.sum(), 1.523504705111, 1e-11);
}

/// Some of the tokens, from a state of their own.
LinearCase part_of(const LinearCase& c, Range r, const Matrix<double>& state) {
  return {c.query.middleRows(r.begin, r.size()),
          c.key.middleRows(r.begin, r.size()),
          c.value.middleRows(r.begin, r.size()),
          state,
          c.rule_of(r),
          c.options};
}

LinearGradients<double> backward_of(const LinearCase& c, const Matrix<double>& d_output,
                                    const Matrix<double>& d_state = {}) {
  return attend_linear_backward(c.query, c.key, c.value, d_output, c.options, c.rule, c.state, d_state);
}

/// Backward through the second half hands the first the gradient of the state between them.
void expect_backward_in_two(const LinearCase& c) {
  const LinearCase before = part_of(c, {0, 37}, c.state);
  const Matrix<double> between =
      attend_linear_with_state(before.query, before.key, before.value, c.options, before.rule, c.state).state;
  const auto d = random(100, 6, 5);
  const auto whole = backward_of(c, d);
  const auto second = backward_of(part_of(c, {37, 100}, between), d.bottomRows(63));
  const auto first = backward_of(before, d.topRows(37), second.state);
  EXPECT_TRUE(near(first.key, whole.key.topRows(37), 1e-12));
  EXPECT_TRUE(near(second.key, whole.key.bottomRows(63), 1e-12));
  EXPECT_TRUE(near(first.value, whole.value.topRows(37), 1e-12));
  EXPECT_TRUE(near(first.rule.decay, whole.rule.decay.topRows(first.rule.decay.rows()), 1e-12));
  EXPECT_TRUE(near(first.state, whole.state, 1e-12));
}

TEST(AttendLinearBackward, GoesFromCallToCallByTheState) {
  for (const Kind kind : every_kind) {
    SCOPED_TRACE(name(kind));
    expect_backward_in_two(linear_case(kind, 100, {.heads = 2}, 4));
  }
}

TEST(AttendLinearBackward, AnyNumberOfThreadsGivesTheSameBits) {
  LinearCase c = linear_case(Kind::delta, 150, {.heads = 6, .kv_heads = 3}, 6);
  const auto d = random(150, 18, 7);
  const auto serial = operands_of(attend_linear_backward(c.query, c.key, c.value, d, c.options, c.rule));
  for (const int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    c.options.executor = pool.executor();
    EXPECT_EQ(operands_of(attend_linear_backward(c.query, c.key, c.value, d, c.options, c.rule)), serial);
  }
}

/// The loss reads the tokens from 40 on, and token 40 forgets all before it.
void expect_nothing_before_forty(LinearCase c) {
  c.rule.decay.row(40).setConstant(-std::numeric_limits<double>::infinity());
  Matrix<double> d = random(70, 3, 9);
  d.topRows(40).setZero();
  const auto got = backward_of(c, d);
  EXPECT_EQ(got.key.topRows(40), Matrix<double>::Zero(40, 5));
  EXPECT_EQ(got.value.topRows(40), Matrix<double>::Zero(40, 3));
  EXPECT_EQ(got.state, Matrix<double>::Zero(5, 3));
  EXPECT_LT(got.rule.decay.row(40).norm(), 1e-12);
  EXPECT_GT(got.key.row(40).norm(), 1e-3);
}

TEST(AttendLinearBackward, NothingPassesADecayOfMinusInfinity) {
  expect_nothing_before_forty(linear_case(Kind::gated, 70, {}, 8));
  expect_nothing_before_forty(linear_case(Kind::gated_delta_by_feature, 70, {}, 8));
}

TEST(AttendLinearBackward, OfNoTokensHandsTheGradientOfTheStateOn) {
  const LinearCase c = linear_case(Kind::gated_delta, 0, {}, 1);
  const auto d_state = random(5, 3, 2);
  const auto got =
      attend_linear_backward(c.query, c.key, c.value, c.value, c.options, c.rule, c.state, d_state);
  EXPECT_EQ(got.state, d_state);
  EXPECT_EQ(got.key.rows(), 0);
}

TEST(AttendLinearBackward, ComputesInFloat) {
  const LinearCase c = linear_case(Kind::gated_delta_by_feature, 130, {.heads = 2}, 10);
  const auto d = random(130, 6, 11);
  const auto expected = attend_linear_backward(c.query, c.key, c.value, d, c.options, c.rule, c.state);
  const auto got = attend_linear_backward(
      c.query.cast<float>(), c.key.cast<float>(), c.value.cast<float>(), d.cast<float>(), c.options,
      {c.rule.decay.cast<float>(), c.rule.beta.cast<float>()}, c.state.cast<float>());
  EXPECT_TRUE(near(got.query, expected.query, 1e-5));
  EXPECT_TRUE(near(got.key, expected.key, 2e-5));
  EXPECT_TRUE(near(got.value, expected.value, 1e-5));
  EXPECT_TRUE(near(got.rule.decay, expected.rule.decay, 5e-5));
  EXPECT_TRUE(near(got.rule.beta, expected.rule.beta, 2e-5));
  EXPECT_TRUE(near(got.state, expected.state, 1e-5));
}

TEST(AttendLinearBackward, SaysWhatDoesNotFit) {
  const LinearCase c = linear_case(Kind::sum, 4, {}, 1);
  EXPECT_EQ(check::thrown<ShapeError>(
                [&] { (void)attend_linear_backward(c.query, c.key, c.value, c.query, c.options); }),
            "attend_linear_backward: d_output columns is 5, expected 3; the shape of output");
  EXPECT_EQ(check::thrown<ShapeError>([&] {
              (void)attend_linear_backward(c.query, c.key, c.value, c.value, c.options, {}, {}, c.value);
            }),
            "attend_linear_backward: d_state rows is 4, expected 5; sequences * kv_heads * head_dim");
}

}  // namespace
}  // namespace headwise::linear_test
