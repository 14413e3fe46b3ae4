#include <headwise/autograd/attend.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/score/alibi.hpp>
#include <headwise/score/chain.hpp>
#include <headwise/score/dense_bias.hpp>
#include <headwise/score/sink.hpp>
#include <headwise/score/soft_cap.hpp>
#include <headwise/score/t5_bias.hpp>

#include "autograd/laws.hpp"

namespace headwise::attend_score_test {
namespace {

using check::near;
using check::random;

/// The loss for given slopes, by numbers only.
double loss_of(const Matrix<double>& x, const Matrix<double>& slopes, const Matrix<double>& d) {
  const auto y =
      attend(x, x, x, {.heads = 2}, mask::Causal{}, score::Alibi(slopes) >> score::SoftCap{.limit = 3});
  return laws::inner(y, d);
}

TEST(AttendOnTape, LearnsTheNumbersOfAScore) {
  const Matrix<double> x = random(9, 4, 1), d = random(9, 4, 2);
  const Parameter<double> slopes{0.3 * random(2, 1, 3)};
  Matrix<double> expected(2, 1);
  for (Index i = 0; i < 2; ++i) {
    Matrix<double> moved = slopes.value;
    moved(i, 0) += 1e-5;
    const double above = loss_of(x, moved, d);
    moved(i, 0) -= 2e-5;
    expected(i, 0) = (above - loss_of(x, moved, d)) / 2e-5;
  }

  autograd::Tape<double> tape;
  const auto input = tape.input(x);
  const auto learned = score::Alibi(tape.parameter(slopes)) >> score::SoftCap{.limit = 3};
  const auto y = attend(input, input, input, {.heads = 2}, mask::Causal{}, learned);
  EXPECT_EQ(y.value(), attend(x, x, x, {.heads = 2}, mask::Causal{},
                              score::Alibi(slopes.value) >> score::SoftCap{.limit = 3}));
  EXPECT_TRUE(near(backward(y, d).of(slopes), expected, 1e-9));
}

TEST(AttendOnTape, AScoreThatLivesLongEnoughMayHoldParameters) {
  const Matrix<double> x = random(9, 4, 1), d = random(9, 4, 2);
  const score::Alibi learned(Parameter<double>{0.3 * random(2, 1, 3)});
  autograd::Tape<double> tape;
  const auto input = tape.input(x);
  const auto gradients = backward(attend(input, input, input, {.heads = 2}, mask::Causal{}, learned), d);
  learned.for_each_operand([&](const Parameter<double>& slopes) {
    autograd::Tape<double> other;
    const auto again = other.input(x);
    const auto y =
        attend(again, again, again, {.heads = 2}, mask::Causal{}, score::Alibi(other.parameter(slopes)));
    EXPECT_EQ(gradients.of(slopes), backward(y, d).of(slopes));
    EXPECT_FALSE(gradients.of(slopes).isZero(0));
  });
}

/// Everything that a score can learn, in one chain.
auto everything(const auto& table, const auto& slopes, const auto& bias, const auto& sinks) {
  return score::T5Bias(table) >> score::Alibi(slopes) >> score::dense_bias(bias) >> score::Sink(sinks);
}

TEST(AttendOnTape, GivesEachOperandOfAScoreItsOwnGradient) {
  const Matrix<double> x = random(9, 4, 1), d = random(9, 4, 2);
  const Parameter<double> table{random(8, 2, 3)}, slopes{random(2, 1, 4)};
  const Matrix<double> bias = random(9, 9, 5), sinks = random(2, 1, 6);
  const auto numbers = everything(table.value, slopes.value, bias, sinks);
  const auto attended = attend_with_lse(x, x, x, {.heads = 2}, mask::Causal{}, numbers);
  const auto expected = attend_backward(x, x, x, attended, d, {.heads = 2}, mask::Causal{}, numbers);

  autograd::Tape<double> tape;
  const auto input = tape.input(x), learned_bias = tape.input(bias), learned_sinks = tape.input(sinks);
  const auto y =
      attend(input, input, input, {.heads = 2}, mask::Causal{},
             everything(tape.parameter(table), tape.parameter(slopes), learned_bias, learned_sinks));
  EXPECT_EQ(y.value(), attended.output);
  const auto gradients = backward(y, d);
  EXPECT_EQ(gradients.of(table), expected.learned[0]);
  EXPECT_EQ(gradients.of(slopes), expected.learned[1]);
  EXPECT_EQ(gradients.of(learned_bias), expected.learned[2]);
  EXPECT_EQ(gradients.of(learned_sinks), expected.learned[3]);
  EXPECT_FALSE(gradients.of(learned_sinks).isZero(0));
}

}  // namespace
}  // namespace headwise::attend_score_test
