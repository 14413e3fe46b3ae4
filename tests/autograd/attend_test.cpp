#include <headwise/autograd/attend.hpp>
#include <headwise/autograd/elementwise.hpp>
#include <headwise/mask/causal.hpp>

#include "autograd/laws.hpp"

#include <optional>

namespace headwise::attend_test {
namespace {

using check::near;
using check::random;
using laws::expect_gradients;

TEST(AttendOnTape, HasTheGradientsOfQueryKeyAndValue) {
  expect_gradients(
      [](const auto& x) {
        return attend(x[0], x[1], x[2], {.heads = 2, .kv_heads = 1, .query_offset = 3}, mask::Causal{});
      },
      {random(4, 6, 1), random(7, 3, 2), random(7, 2, 3)});
}

TEST(AttendOnTape, AddsUpWhatOneMatrixGetsInThreePlaces) {
  expect_gradients([](const auto& x) { return attend(x[0], x[0], x[0]); }, {random(5, 3, 1)});
}

TEST(AttendOnTape, ALossMayReadTheLogSumExp) {
  const laws::Inputs inputs{random(4, 6, 1), random(7, 3, 2), random(7, 2, 3)};
  const Matrix<double> d_output = random(4, 4, 4), d_lse = random(4, 2, 5);
  const AttendOptions options{.heads = 2, .kv_heads = 1, .query_offset = 3};
  const auto attended = attend_with_lse(inputs[0], inputs[1], inputs[2], options, mask::Causal{});
  const auto expected = attend_backward(inputs[0], inputs[1], inputs[2], attended,
                                        Attended<double>{d_output, d_lse}, options, mask::Causal{});

  autograd::Tape<double> tape;
  const auto query = tape.input(inputs[0]), key = tape.input(inputs[1]), value = tape.input(inputs[2]);
  const auto [output, lse] = attend_with_lse(query, key, value, options, mask::Causal{});
  EXPECT_EQ(lse.value(), attended.lse);
  const auto loss = add(sum(multiply_elementwise(output, d_output)), sum(multiply_elementwise(lse, d_lse)));
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto gradients = backward(loss);
    EXPECT_EQ(gradients.of(query), expected.query);
    EXPECT_EQ(gradients.of(key), expected.key);
    EXPECT_EQ(gradients.of(value), expected.value);
  }
  const auto of_lse = backward(lse, d_lse);
  EXPECT_TRUE(of_lse.of(value).isZero(0)) << "values have no part in it";
  EXPECT_FALSE(of_lse.of(key).isZero(0));
}

TEST(AttendOnTape, KeepsThePositionsAndTheDropoutOfTheCall) {
  const Matrix<double> x = random(6, 4, 1), d = random(6, 4, 2);
  AttendOptions options{.heads = 2, .dropout = {.rate = 0.4, .seed = 5, .layer = 2}};
  autograd::Tape<double> tape;
  const auto input = tape.input(x);
  std::optional<autograd::Var<double>> y;
  Attended<double> attended;
  AttendGradients<double> expected;
  {
    std::vector<Position> positions{0, 2, 4, 1, 3, 5};
    options.query_positions = options.key_positions = positions;
    y = attend(input, input, input, options, mask::Causal{});
    attended = attend_with_lse(x, x, x, options, mask::Causal{});
    expected = attend_backward(x, x, x, attended, d, options, mask::Causal{});
    positions.assign(6, -1);
  }
  EXPECT_EQ(y->value(), attended.output);
  const Matrix<double> sum = expected.query + expected.key + expected.value;
  EXPECT_EQ(backward(*y, d).of(input), sum);
}

TEST(AttendOnTape, ARowThatSeesNothingGivesZeros) {
  autograd::Tape<double> tape;
  const auto query = tape.input(random(3, 2, 1)), key = tape.input(random(2, 2, 2)),
             value = tape.input(random(2, 2, 3));
  const auto y = attend(query, key, value, {.query_offset = -2}, mask::Causal{});
  EXPECT_TRUE(y.value().topRows(2).isZero(0));
  const auto gradients = backward(y, random(3, 2, 4));
  EXPECT_TRUE(gradients.of(query).topRows(2).isZero(0));
  EXPECT_TRUE(gradients.of(query).allFinite());
  EXPECT_TRUE(gradients.of(key).row(1).isZero(0));
  EXPECT_TRUE(gradients.of(value).allFinite());
}

TEST(AttendOnTape, GoesOverPlans) {
  const Matrix<double> x = random(8, 4, 1), d = random(8, 4, 2);
  Plans plans;
  plans.plans.resize(1);
  for (Index begin : {0, 4}) {
    plans.plans[0].items.push_back({.queries = RowList::contiguous({begin, begin + 4}),
                                    .keys = RowList::contiguous({begin, begin + 4})});
  }
  const auto attended = attend_over(plans, x, x, x, {.heads = 2});
  const auto expected = attend_over_backward(plans, x, x, x, attended, d, {.heads = 2});
  autograd::Tape<double> tape;
  const auto input = tape.input(x);
  const auto y = attend_over(plans, input, input, input, {.heads = 2});
  EXPECT_EQ(y.output.value(), attended.output);
  EXPECT_EQ(backward(y.output, d).of(input), Matrix<double>(expected.query + expected.key + expected.value));
}

}  // namespace
}  // namespace headwise::attend_test
