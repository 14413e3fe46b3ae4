#include <headwise/autograd/elementwise.hpp>
#include <headwise/autograd/product.hpp>
#include <headwise/autograd/stop_gradient.hpp>
#include <headwise/autograd/tape.hpp>
#include <headwise/layer/linear.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/reference.hpp"
#include "support/thrown.hpp"

#include <optional>

namespace headwise::autograd::tape_test {
namespace {

namespace hw = headwise;

using check::near;
using check::random;
using check::thrown;

TEST(Tape, GoesBackThroughWhatALayerDid) {
  Rng rng(1);
  // [docs autograd/tape]
  hw::layer::Linear<double> linear({.in = 3, .out = 2}, rng);
  hw::autograd::Tape<double> tape;
  const auto x = tape.input(hw::normal(4, 3, 1.0, rng));
  const auto loss = sum(tanh(linear(x)));  // recorded, because x is a variable

  const auto gradients = backward(loss);
  linear.for_each_parameter([&](std::string_view, const auto& parameter) {
    const hw::Matrix<double>& gradient = gradients.of(parameter);  // of the parameter's shape
    (void)gradient;
  });
  // [docs end]
  Matrix<double> d_weight = Matrix<double>::Zero(2, 3), d_x = Matrix<double>::Zero(4, 3);
  for (Index i = 0; i < 4; ++i) {
    for (Index o = 0; o < 2; ++o) {
      double z = 0;
      for (Index k = 0; k < 3; ++k) z += x.value()(i, k) * linear.weight()(o, k);
      const double slope = 1 - std::tanh(z) * std::tanh(z);
      for (Index k = 0; k < 3; ++k) {
        d_weight(o, k) += slope * x.value()(i, k);
        d_x(i, k) += slope * linear.weight()(o, k);
      }
    }
  }
  EXPECT_TRUE(near(gradients.of(x), d_x, 1e-14));
  linear.for_each_parameter([&](std::string_view name, const auto& parameter) {
    if (name != "weight") return;
    EXPECT_TRUE(near(gradients.of(parameter), d_weight, 1e-14));
  });
}

TEST(Tape, SumsTheGradientsOfAWeightThatIsUsedTwice) {
  const Parameter<double> weight{random(3, 3, 1)};
  Tape<double> tape;
  const auto x = tape.input(random(2, 3, 2));
  const auto twice = backward(sum(multiply(multiply(x, weight), weight)));
  const Matrix<double> ones = Matrix<double>::Ones(2, 3), w = weight.value;
  const Matrix<double> inner = reference::product(x.value(), w),
                       back = reference::product(ones, w.transpose());
  const Matrix<double> expected =
      reference::product(inner.transpose(), ones) + reference::product(x.value().transpose(), back);
  EXPECT_TRUE(near(twice.of(weight), expected, 1e-13));
}

TEST(Tape, TwoBackwardCallsAddUpToDoubleTheGradient) {
  const Parameter<double> weight{random(3, 3, 1)};
  Tape<double> tape;
  const auto loss = sum(tanh(multiply(tape.input(random(2, 3, 2)), weight)));
  auto gradients = backward(loss);
  const Matrix<double> once = gradients.of(weight);
  gradients += backward(loss);
  EXPECT_EQ(gradients.of(weight), Matrix<double>(2 * once));
  gradients *= 0.5;
  EXPECT_EQ(gradients.of(weight), once);
}

TEST(Tape, ZeroUpstreamGivesZero) {
  const Parameter<double> weight{random(3, 3, 1)};
  Tape<double> tape;
  const auto x = tape.input(random(2, 3, 2));
  const auto gradients = backward(tanh(multiply(x, weight)), Matrix<double>::Zero(2, 3));
  EXPECT_TRUE(gradients.of(weight).isZero(0));
  EXPECT_TRUE(gradients.of(x).isZero(0));
}

TEST(Tape, GoesThroughAHundredThousandVerbsWithoutRecursion) {
  Tape<double> tape;
  const auto x = tape.input(Matrix<double>::Constant(1, 1, 2.0));
  auto y = multiply_scalar(x, 1.0);
  for (int i = 0; i < 100000; ++i) y = add(y, x);
  EXPECT_EQ(y.value()(0, 0), 200002.0);
  EXPECT_EQ(backward(y).of(x)(0, 0), 100001.0);
}

TEST(Tape, AParameterThatMetNoVariableHasNoGradient) {
  Rng rng(1);
  const Parameter<double> met{random(3, 3, 1)}, forgotten{random(3, 4, 2)};
  Tape<double> tape;
  const auto gradients = backward(sum(multiply(tape.input(random(2, 3, 3)), met)));
  EXPECT_TRUE(gradients.contains(met));
  EXPECT_FALSE(gradients.contains(forgotten));
  EXPECT_EQ(
      thrown<ShapeError>([&] { (void)gradients.of(forgotten, "head.weight"); }),
      "Gradients: head.weight [3, 4] is unknown to the tape, expected a parameter that met a variable; begin "
      "the step with tape.input(x), and do not move or copy the model before its backward");
}

TEST(Tape, AParameterWithoutASayInTheLossHasZeros) {
  const Parameter<double> weight{random(3, 3, 1)}, idle{random(3, 2, 2)};
  Tape<double> tape;
  const auto x = tape.input(random(2, 3, 3));
  (void)multiply(x, idle);
  const auto gradients = backward(sum(multiply(x, weight)));
  EXPECT_EQ(gradients.of(idle), Matrix<double>(Matrix<double>::Zero(3, 2)));
}

TEST(Tape, StopsTheGradientWhereItIsTold) {
  const Parameter<double> before{random(3, 3, 1)}, after{random(3, 3, 2)};
  Tape<double> tape;
  const auto x = tape.input(random(2, 3, 3));
  const auto h = multiply(x, before);
  const auto stopped = stop_gradient(h);
  EXPECT_EQ(stopped.value().data(), h.value().data()) << "nothing is copied";
  const auto gradients = backward(sum(multiply(stopped, after)));
  EXPECT_TRUE(gradients.of(x).isZero(0));
  EXPECT_TRUE(gradients.of(before).isZero(0));
  EXPECT_FALSE(gradients.of(after).isZero(0));
  const Matrix<double> matrix = random(2, 3, 4);
  EXPECT_EQ(headwise::stop_gradient(matrix), matrix);
}

TEST(Tape, ComputesNoGradientOfConstants) {
  Tape<double> tape;
  const auto constant = tape.constant(random(2, 3, 1));
  const auto made = tanh(constant);
  EXPECT_FALSE(made.learns());
  EXPECT_TRUE(add(made, tape.input(random(2, 3, 2))).learns());
  EXPECT_EQ(
      thrown<ShapeError>([&] { (void)backward(sum(made)); }),
      "backward: the loss is a constant, expected one made of variables; begin the step with tape.input(x)");
}

TEST(Tape, GradientsOutliveTheTape) {
  const Parameter<double> weight{random(3, 3, 1)};
  std::optional<Gradients<double>> gradients;
  {
    Tape<double> tape;
    gradients = backward(sum(multiply(tape.input(Matrix<double>(Matrix<double>::Ones(2, 3))), weight)));
  }
  EXPECT_EQ(gradients->of(weight), Matrix<double>(Matrix<double>::Constant(3, 3, 2.0)));
  EXPECT_EQ(gradients->size(), 1u);
  EXPECT_NEAR(global_norm(*gradients), 6.0, 1e-15);
}

TEST(Tape, SaysWhatIsWrong) {
  Tape<double> tape, other;
  const auto x = tape.input(random(2, 3, 1)), stranger = other.input(random(2, 3, 2));
  EXPECT_EQ(thrown<ShapeError>([&] { (void)add(x, stranger); }),
            "autograd: a variable is of another tape, expected one tape a step");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)backward(x); }),
            "backward: rows of the loss is 2, expected 1; or give d_y, the gradient to begin with");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)backward(x, random(2, 4, 3)); }),
            "backward: columns of d_y is 4, expected 3");
  const auto y = tanh(x);
  const auto gradients = backward(sum(y));
  EXPECT_EQ(
      thrown<ShapeError>([&] { (void)gradients.of(y); }),
      "Gradients: the variable is the result of a verb or a constant, expected one that tape.input returned");
}

}  // namespace
}  // namespace headwise::autograd::tape_test
