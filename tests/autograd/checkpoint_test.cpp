#include <headwise/autograd/ops.hpp>
#include <headwise/layer/block.hpp>
#include <headwise/mask/causal.hpp>

#include "autograd/laws.hpp"
#include "layer/parameters.hpp"
#include "support/reference.hpp"
#include "support/thrown.hpp"

namespace headwise::checkpoint_test {
namespace {

using check::near;
using check::random;

layer::Block<double> made() {
  Rng rng(1);
  layer::Block<double> block({.attention = {.d_model = 6, .heads = 2, .query_bias = true},
                              .feed_forward = {.d_model = 6, .d_ff = 10},
                              .norm = {.width = 6}},
                             rng);
  check::randomise(block, 3);
  return block;
}

TEST(Checkpoint, GivesTheSameGradientsAndForgetsWhatIsInside) {
  namespace hw = headwise;
  const auto block = made();
  const Matrix<double> numbers = random(5, 6, 1), d = random(5, 6, 2);
  const AttendOptions options{.dropout = {.rate = 0.3, .seed = 9}};
  autograd::Tape<double> stored;
  const auto x_stored = stored.input(numbers);
  const auto y_stored = block(block(x_stored, options, mask::Causal{}), options, mask::Causal{});
  // [docs autograd/checkpoint]
  hw::autograd::Tape<double> tape;
  const auto x = tape.input(numbers);  // [tokens, d_model]
  const auto once = [&](const auto& h) { return block(h, options, hw::mask::Causal{}); };
  const auto y = checkpoint(once, checkpoint(once, x));  // keeps two matrices
  // [docs end]
  EXPECT_EQ(y.value(), y_stored.value());
  EXPECT_EQ(tape.size(), 3u);
  const auto expected = backward(y_stored, d), got = backward(y, d);
  EXPECT_EQ(got.of(x), expected.of(x_stored));
  block.for_each_parameter([&](std::string_view name, const auto& parameter) {
    EXPECT_TRUE(near(got.of(parameter), expected.of(parameter), 1e-14)) << name;
  });
}

TEST(Checkpoint, TakesSeveralArgumentsAndConstants) {
  const Parameter<double> weight{random(3, 3, 1)};
  const auto f = [&](const auto& a, const auto& b) { return multiply(add(a, b), weight); };
  autograd::Tape<double> tape;
  const auto a = tape.input(random(2, 3, 2)), b = tape.input(random(2, 3, 3));
  const Matrix<double> d = random(2, 3, 4);
  const auto both = backward(checkpoint(f, a, b), d), one = backward(checkpoint(f, a, b.value()), d);
  EXPECT_TRUE(near(both.of(a), reference::product(d, weight.value.transpose()), 1e-14));
  EXPECT_EQ(both.of(b), both.of(a));
  EXPECT_EQ(one.of(a), both.of(a));
  EXPECT_TRUE(one.of(b).isZero(0));
  EXPECT_EQ(one.of(weight), both.of(weight));

  const auto constant = backward(checkpoint(f, tape.constant(a.value()), b.value()), d);
  EXPECT_EQ(constant.of(weight), both.of(weight)) << "parameters learn from constants, too";
}

TEST(Checkpoint, RefusesAVariableThatItCaptured) {
  autograd::Tape<double> tape;
  const auto x = tape.input(random(2, 3, 1));
  const auto f = [&](const auto& h) {
    if constexpr (RealMatrix<decltype(h)>) {
      return Matrix<double>(h + x.value());
    } else {
      return add(h, x);
    }
  };
  const auto y = checkpoint(f, x);
  EXPECT_EQ(check::thrown<ShapeError>([&] { (void)backward(y, random(2, 3, 2)); }),
            "autograd: a variable is of another tape, expected one tape a step");
}

TEST(Checkpoint, OfMatricesIsTheFunctionItself) {
  const Matrix<double> x = random(2, 3, 1);
  EXPECT_EQ(checkpoint([](const auto& h) { return relu(h); }, x), relu(x));
}

}  // namespace
}  // namespace headwise::checkpoint_test
