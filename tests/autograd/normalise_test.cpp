#include <headwise/autograd/normalise.hpp>

#include "autograd/laws.hpp"

// Each verb is called without namespace, as layers do: the lambda finds that of matrices or of variables.
namespace headwise::normalise_test {
namespace {

using check::random;
using laws::expect_gradients;

TEST(Norms, HaveTheGradientsOfRowGainAndBias) {
  for (Index width : {1, 3, 16, 37}) {
    const laws::Inputs inputs{random(4, width, 1), random(1, width, 2), random(1, width, 3)};
    expect_gradients([](const auto& x) { return layer_norm(x[0], x[1], x[2], 1e-3); }, inputs);
    expect_gradients([](const auto& x) { return layer_norm(x[0], x[1], 1e-3); }, {inputs[0], inputs[1]});
    expect_gradients([](const auto& x) { return rms_norm(x[0], x[1], 1e-3); }, {inputs[0], inputs[1]});
  }
}

TEST(Norms, RowsOfLengthOneHaveTheirGradient) {
  expect_gradients([](const auto& x) { return normalise_rows(x[0]); }, {random(4, 5, 1)});
  autograd::Tape<double> tape;
  const auto x = tape.input(Matrix<double>(Matrix<double>::Zero(2, 3)));
  EXPECT_TRUE(backward(normalise_rows(x), random(2, 3, 1)).of(x).isZero(0)) << "a row of zeros";
}

TEST(Norms, TakeEmptyMatrices) {
  autograd::Tape<double> tape;
  const Parameter<double> gain{random(1, 3, 1)};
  const auto x = tape.input(Matrix<double>(0, 3));
  const auto gradients = backward(layer_norm(x, gain, 1e-5), Matrix<double>(0, 3));
  EXPECT_EQ(gradients.of(x).rows(), 0);
  EXPECT_TRUE(gradients.of(gain).isZero(0));
}

}  // namespace
}  // namespace headwise::normalise_test
