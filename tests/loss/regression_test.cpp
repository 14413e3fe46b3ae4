#include <headwise/autograd/elementwise.hpp>
#include <headwise/autograd/product.hpp>
#include <headwise/autograd/stop_gradient.hpp>
#include <headwise/autograd/value.hpp>
#include <headwise/loss/binary_cross_entropy.hpp>
#include <headwise/loss/info_nce.hpp>
#include <headwise/loss/mean_squared_error.hpp>

#include "autograd/laws.hpp"
#include "support/thrown.hpp"

#include <cmath>
#include <limits>

namespace headwise::loss {
namespace {

namespace hw = headwise;

using check::near;
using check::random;
using check::thrown;

/// A number as the laws want it.
const auto as_matrix = [](const auto& value) {
  if constexpr (requires { value.tape(); }) {
    return value;
  } else {
    using Scalar = std::remove_cvref_t<decltype(value)>;
    return Matrix<Scalar>(Matrix<Scalar>::Constant(1, 1, value));
  }
};

TEST(MeanSquaredError, MeansOverTheRowsThatCount) {
  const Matrix<double> prediction{{1, 2}, {3, 4}, {5, 6}}, target{{1, 0}, {0, 0}, {4, 8}};
  EXPECT_NEAR(mean_squared_error(prediction, target), (4 + 9 + 16 + 1 + 4) / 6.0, 1e-15);
  EXPECT_EQ(mean_squared_error(prediction, target, {.counted = {true, false, true}}), 9 / 4.0);
  EXPECT_EQ(mean_squared_error(prediction, target, {.reduction = Reduction::sum}), 34);
  EXPECT_EQ(mean_squared_error(prediction, target, {.counted = {false, false, false}}), 0);
}

TEST(MeanSquaredError, HasTheGradientsOfBothSides) {
  const MeanSquaredErrorOptions some{.counted = {true, false, true, true}};
  laws::expect_gradients([&](const auto& x) { return as_matrix(mean_squared_error(x[0], x[1], some)); },
                         {random(4, 3, 1), random(4, 3, 2)});
  // [docs loss/mean_squared_error]
  hw::autograd::Tape<double> tape;
  hw::Rng rng(1);
  const auto prediction = tape.input(hw::normal(4, 3, 1.0, rng));
  const auto target = tape.input(hw::normal(4, 3, 1.0, rng));
  const auto loss = hw::loss::mean_squared_error(prediction, stop_gradient(target));
  const auto gradients = backward(loss);  // nothing for the target
  // [docs end]
  EXPECT_TRUE(gradients.of(target).isZero(0));
  EXPECT_TRUE(near(gradients.of(prediction), (prediction.value() - target.value()) / 6, 1e-15));
}

TEST(BinaryCrossEntropy, IsTheLogarithmOfTheProbability) {
  const Matrix<double> logits{{-3, 0.5}, {2, 0}}, targets{{1, 0}, {0.25, 1}};
  double sum = 0;
  for (Index i = 0; i < 4; ++i) {
    const double p = 1 / (1 + std::exp(-logits.data()[i])), y = targets.data()[i];
    sum -= y * std::log(p) + (1 - y) * std::log(1 - p);
  }
  EXPECT_NEAR(binary_cross_entropy(logits, targets), sum / 4, 1e-14);
  EXPECT_NEAR(binary_cross_entropy(logits, targets, Reduction::sum), sum, 1e-14);
}

TEST(BinaryCrossEntropy, HasItsGradientAlsoFarOut) {
  const Matrix<double> targets = random(3, 4, 5).cwiseAbs().cwiseMin(1.0);
  laws::expect_gradients(
      [&](const auto& x) {
        using Scalar = scalar_of<decltype(x[0])>;
        return as_matrix(binary_cross_entropy(x[0], Matrix<Scalar>(targets.template cast<Scalar>())));
      },
      {random(3, 4, 1)});
  autograd::Tape<float> tape;
  const auto x = tape.input(Matrix<float>{{-200, -20, 200}});
  const auto loss = binary_cross_entropy(x, Matrix<float>{{1, 0, 0}}, Reduction::sum);
  EXPECT_EQ(loss.value()(0, 0), 400.0f);
  EXPECT_TRUE(near(backward(loss).of(x), Matrix<float>{{-1, 2.0611537e-9f, 1}}, 1e-15, 1e-6));
}

TEST(InfoNce, HasTheGradientsOfContextCandidateAndWeight) {
  laws::expect_gradients_by_differences([](const auto& x) { return as_matrix(info_nce(x[0], x[1], x[2])); },
                                        {random(3, 4, 1), random(5, 2, 2), random(2, 4, 3)});
}

TEST(Losses, NameWhatDoesNotFit) {
  EXPECT_EQ(thrown<ShapeError>([] { (void)mean_squared_error(random(2, 3, 1), random(1, 3, 2)); }),
            "mean_squared_error: rows of the target is 1, expected 2");
  EXPECT_EQ(thrown<ShapeError>(
                [] { (void)mean_squared_error(random(2, 3, 1), random(2, 3, 2), {.counted = {true}}); }),
            "mean_squared_error: counted is 1, expected 2; one a row");
  EXPECT_EQ(thrown<ShapeError>([] { (void)binary_cross_entropy(random(1, 1, 1), Matrix<double>{{1.5}}); }),
            "binary_cross_entropy: a target is 1.500000, expected 0 to 1");
}

}  // namespace
}  // namespace headwise::loss
