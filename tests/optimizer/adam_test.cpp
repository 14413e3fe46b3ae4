#include <headwise/autograd/elementwise.hpp>
#include <headwise/autograd/product.hpp>
#include <headwise/layer/linear.hpp>
#include <headwise/optimizer/adam.hpp>

#include <gtest/gtest.h>

#include "layer/parameters.hpp"
#include "support/check.hpp"
#include "support/pattern_laws.hpp"
#include "support/thrown.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace headwise::optimizer {
namespace {

namespace hw = headwise;

using check::near;
using check::random;
using check::thrown;

/// A model of one named matrix.
struct Single {
  std::string name = "weight";
  Parameter<double> parameter;

  void for_each_parameter(auto&& visit) { visit(std::string_view(name), parameter); }
  void for_each_parameter(auto&& visit) const { visit(std::string_view(name), parameter); }
};

autograd::Gradients<double> gradient_of(const Single& model, const Matrix<double>& gradient) {
  autograd::Gradients<double> result;
  result.set(model.parameter.value, gradient);
  return result;
}

TEST(Adam, WithDecayTakesTheFirstStepOfAdamW) {
  Single model{.parameter = {Matrix<double>::Constant(2, 2, 0.5)}};
  Adam<double> adam(model, {.learning_rate = 1e-2, .weight_decay = 0.1});
  adam.step(model, gradient_of(model, Matrix<double>::Constant(2, 2, 0.2)));
  for (Index i = 0; i < 4; ++i) EXPECT_NEAR(model.parameter.value.data()[i], 0.48950000050000, 1e-14);
}

TEST(Adam, RefusesSettingsOutOfTheirRange) {
  Single model{.parameter = {random(2, 2, 1)}};
  const auto refusal = [&](const AdamOptions& options) {
    return check::refusal([&] { (void)Adam<double>(model, options); });
  };
  EXPECT_EQ(refusal({.eps = 0}), "accepted");
  EXPECT_EQ(refusal({.learning_rate = std::numeric_limits<double>::quiet_NaN()}),
            "Adam: learning_rate is nan, expected a finite number, 0 or more");
  EXPECT_EQ(refusal({.beta1 = 1}), "Adam: beta1 is 1.000000, expected at least 0 and below 1");
  EXPECT_EQ(refusal({.beta2 = 1.5}), "Adam: beta2 is 1.500000, expected at least 0 and below 1");
  EXPECT_EQ(refusal({.eps = -1}), "Adam: eps is -1.000000, expected a finite number, 0 or more");
  EXPECT_EQ(refusal({.weight_decay = -1}),
            "Adam: weight_decay is -1.000000, expected a finite number, 0 or more");
  Adam<double> adam(model);
  EXPECT_EQ(check::refusal([&] { adam.step(model, gradient_of(model, random(2, 2, 2)), -1); }),
            "Adam: learning_rate is -1.000000, expected a finite number, 0 or more");
}

TEST(Adam, FollowsTheFormulaOverManySteps) {
  for (const double decay : {0.0, 0.05}) {
    Single model{.parameter = {random(7, 5, 1)}};  // 35 numbers: two blocks and a rest
    Matrix<double> w = model.parameter.value, m = Matrix<double>::Zero(7, 5), v = m;
    Adam<double> adam(model, {.learning_rate = 0.1, .beta1 = 0.8, .beta2 = 0.95, .weight_decay = decay});
    for (int t = 1; t <= 5; ++t) {
      const Matrix<double> g = random(7, 5, 10 + std::uint64_t(t));
      adam.step(model, gradient_of(model, g), 0.1 / t);
      for (Index i = 0; i < w.size(); ++i) {
        double &wi = w.data()[i], &mi = m.data()[i], &vi = v.data()[i];
        mi = 0.8 * mi + 0.2 * g.data()[i];
        vi = 0.95 * vi + 0.05 * g.data()[i] * g.data()[i];
        wi -= 0.1 / t * decay * wi;
        wi -= 0.1 / t * (mi / (1 - std::pow(0.8, t))) / (std::sqrt(vi / (1 - std::pow(0.95, t))) + 1e-8);
      }
    }
    EXPECT_TRUE(near(model.parameter.value, w, 1e-13));
  }
}

TEST(Adam, DecaysWeightsOfProductsOnly) {
  const auto decays = [](std::string_view name, Index rows, Index cols) {
    return usual_treatment(name, rows, cols).decay == 1;
  };
  EXPECT_TRUE(decays("layers.0.attention.query.weight", 8, 8));
  EXPECT_FALSE(decays("layers.0.attention.query.bias", 1, 8));
  EXPECT_FALSE(decays("layers.0.attention_norm.weight", 1, 8));
  EXPECT_FALSE(decays("embedding.tokens.weight", 100, 8));
  EXPECT_FALSE(decays("embedding.positions.table", 100, 8));
  EXPECT_FALSE(decays("score.0", 32, 8)) << "a T5 table";
  EXPECT_FALSE(decays("score.0", 8, 1)) << "ALiBi slopes";
}

TEST(Adam, LeavesFrozenParametersAlone) {
  Rng rng(1);
  layer::Linear<double> linear({.in = 3, .out = 2}, rng);
  Adam<double> adam(linear, {.rule = [](std::string_view name, Index, Index) {
                      return Treatment{.rate = name == "bias" ? 0.0 : 1.0};
                    }});
  autograd::Gradients<double> only_weight;
  only_weight.set(linear.weight(), random(2, 3, 1));
  const Matrix<double> before = linear.weight();
  adam.step(linear, only_weight);
  EXPECT_TRUE(linear.bias().isZero(0));
  EXPECT_NE(linear.weight(), before);
}

TEST(Adam, ProjectsAfterTheStep) {
  Single model{.name = "span", .parameter = {Matrix<double>{{0.5, 9.5}}}};
  Adam<double> adam(model, {.learning_rate = 1});
  adam.project_with([](std::string_view name, hw::Matrix<double>& value) {
    if (name.ends_with("span")) value = value.cwiseMax(0.0).cwiseMin(10.0);
  });
  adam.step(model, gradient_of(model, Matrix<double>{{1, -1}}));
  EXPECT_EQ(model.parameter.value, (Matrix<double>{{0, 10}}));
}

TEST(Adam, LowersALossByWhatTheGradientPromises) {
  Rng rng(1);
  layer::Linear<double> linear({.in = 3, .out = 2}, rng);
  const Matrix<double> x = random(6, 3, 2);
  const auto loss_of = [&] { return tanh(linear(x)).sum(); };
  autograd::Tape<double> tape;
  const auto gradients = backward(sum(tanh(linear(tape.input(x)))));
  const double before = loss_of(), norm = global_norm(gradients), rate = 1e-5;
  linear.for_each_parameter(
      [&](std::string_view, auto& parameter) { parameter.value -= rate * gradients.of(parameter); });
  EXPECT_NEAR(before - loss_of(), rate * norm * norm, 0.01 * rate * norm * norm);
}

TEST(Adam, GoesOnFromItsMemory) {
  Single model{.parameter = {random(3, 3, 1)}};
  Adam<double> whole(model), first(model);
  Single other = model;
  for (std::uint64_t t = 0; t < 4; ++t) whole.step(model, gradient_of(model, random(3, 3, 20 + t)));
  for (std::uint64_t t = 0; t < 2; ++t) first.step(other, gradient_of(other, random(3, 3, 20 + t)));
  Adam<double> second(other);
  std::vector<std::pair<std::string, Matrix<double>>> memory;
  first.for_each_parameter([&](std::string_view name, const auto& p) { memory.emplace_back(name, p.value); });
  EXPECT_EQ(memory[0].first + " " + memory[1].first + " " + memory[2].first,
            "steps mean.weight square.weight");
  std::size_t n = 0;
  second.for_each_parameter([&](std::string_view, auto& p) { p.value = memory[n++].second; });
  for (std::uint64_t t = 2; t < 4; ++t) second.step(other, gradient_of(other, random(3, 3, 20 + t)));
  EXPECT_EQ(other.parameter.value, model.parameter.value);
}

TEST(Adam, ChangesNothingWhenSomethingIsMissing) {
  Rng rng(1);
  layer::Linear<double> linear({.in = 3, .out = 2}, rng), other({.in = 4, .out = 2}, rng);
  Adam<double> adam(linear);
  autograd::Gradients<double> only_weight;
  only_weight.set(linear.weight(), random(2, 3, 1));
  const Matrix<double> before = linear.weight();
  EXPECT_EQ(thrown<ShapeError>([&] { adam.step(linear, only_weight); }),
            "Gradients: bias [1, 2] is unknown to the tape, expected a parameter that met a variable; begin "
            "the step "
            "with tape.input(x), and do not move or copy the model before its backward");
  EXPECT_EQ(linear.weight(), before);
  EXPECT_EQ(
      thrown<ShapeError>([&] { adam.step(other, only_weight); }),
      "Adam: parameter 0 is weight [2, 4], expected weight [2, 3]; an optimizer serves the model that it was "
      "made for");
}

TEST(Adam, RefusesAGradientOfAnotherShape) {
  Single model{.parameter = {random(2, 3, 1)}};
  Adam<double> adam(model);
  EXPECT_EQ(thrown<ShapeError>([&] { adam.step(model, gradient_of(model, random(2, 4, 1))); }),
            "Adam: columns of the gradient of weight is 4, expected 3");
}

TEST(Adam, TrainsALayer) {
  Rng rng(1);
  const Matrix<float> x = normal(64, 4, 1.0f, rng), wanted = normal(3, 4, 1.0f, rng);
  const Matrix<float> target = multiply_transposed(x, wanted);
  // [docs optimizer/adam]
  hw::layer::Linear<float> linear({.in = 4, .out = 3}, rng);
  hw::optimizer::Adam<float> adam(linear, {.learning_rate = 0.05});
  for (int step = 0; step < 300; ++step) {
    hw::autograd::Tape<float> tape;
    const auto error = subtract(linear(tape.input(x)), target);
    adam.step(linear, backward(sum(multiply_elementwise(error, error))));
  }
  // [docs end]
  EXPECT_TRUE(near(linear.weight(), wanted, 1e-3));
}

template <class Scalar>
void check_root() {
  const double eps = double(std::numeric_limits<Scalar>::epsilon());
  for (double exponent = -36; exponent < 38; exponent += 0.37) {
    const Scalar x = Scalar(std::pow(10.0, exponent));
    const double expected = std::sqrt(double(x));
    EXPECT_NEAR(double(detail::root(x)), expected, 2 * eps * expected) << double(x);
  }
  EXPECT_EQ(detail::root(Scalar(0)), Scalar(0));
  EXPECT_EQ(detail::root(std::numeric_limits<Scalar>::infinity()), std::numeric_limits<Scalar>::infinity());
  EXPECT_TRUE(std::isnan(detail::root(std::numeric_limits<Scalar>::quiet_NaN())));
}

TEST(Adam, TakesRootsToTheLastDigits) {
  check_root<float>();
  check_root<double>();
}

}  // namespace
}  // namespace headwise::optimizer
