#include <headwise/autograd/linear.hpp>

#include "attention/linear_cases.hpp"
#include "autograd/laws.hpp"

namespace headwise::linear_test {
namespace {

using check::random;

/// The rule of x[3], x[4], be they matrices or variables.
template <class X>
auto rule_from(const std::vector<X>& x) {
  if constexpr (autograd::is_var<X>) {
    return autograd::LinearRuleVars<scalar_of<X>>{x[3], x[4]};
  } else {
    return LinearRule<scalar_of<X>>{x[3], x[4]};
  }
}

laws::Inputs inputs_of(const LinearCase& c) {
  return {c.query, c.key, c.value, c.rule.decay, c.rule.beta, c.state};
}

TEST(RecordedLinear, HasTheGradientsOfAllOperands) {
  for (const Kind kind : every_kind) {
    SCOPED_TRACE(name(kind));
    const LinearCase c =
        linear_case(kind, 9, {.heads = 4, .kv_heads = 2, .rows = RaggedRows::from_lengths({6, 0, 3})}, 1);
    laws::expect_gradients(
        [&](const auto& x) { return attend_linear(x[0], x[1], x[2], c.options, rule_from(x), x[5]); },
        inputs_of(c));
  }
}

/// What the first call's output and what its state lead to go through one backward.
TEST(RecordedLinear, GradientsReachACallThroughItsState) {
  const LinearCase c = linear_case(Kind::gated_delta, 6, {.heads = 2}, 2);
  laws::expect_gradients(
      [&](const auto& x) {
        const auto first = attend_linear_with_state(x[0], x[1], x[2], c.options, rule_from(x), x[5]);
        return attend_linear(first.output, x[1], x[2], {.heads = 2, .scale = 0.3}, rule_from(x), first.state);
      },
      [&] {
        laws::Inputs inputs = inputs_of(c);
        inputs[2] = random(6, 10, 3);  // as wide as a query, for the second call
        inputs[5] = random(10, 5, 4);
        return inputs;
      }());
  laws::expect_gradients(
      [&](const auto& x) {
        return attend_linear_with_state(x[0], x[1], x[2], c.options, rule_from(x), x[5]).state;
      },
      inputs_of(c));
}

TEST(RecordedLinear, IsTheOneBackwardOfTheCall) {
  const LinearCase c = linear_case(Kind::gated, 70, {.heads = 2}, 5);
  const auto d = random(70, 6, 6);
  autograd::Tape<double> tape;
  const auto query = tape.input(c.query), key = tape.input(c.key), value = tape.input(c.value),
             decay = tape.input(c.rule.decay);
  const auto y = attend_linear(query, key, value, c.options, {.decay = decay});
  EXPECT_EQ(y.value(), attend_linear(c.query, c.key, c.value, c.options, c.rule));
  const auto got = backward(y, d);
  const auto expected = attend_linear_backward(c.query, c.key, c.value, d, c.options, c.rule);
  EXPECT_EQ(got.of(query), expected.query);
  EXPECT_EQ(got.of(key), expected.key);
  EXPECT_EQ(got.of(value), expected.value);
  EXPECT_EQ(got.of(decay), expected.rule.decay);
}

}  // namespace
}  // namespace headwise::linear_test
