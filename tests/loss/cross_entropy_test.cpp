#include <headwise/autograd/value.hpp>
#include <headwise/loss/cross_entropy.hpp>
#include <headwise/loss/info_nce.hpp>

#include "autograd/laws.hpp"
#include "support/thrown.hpp"

#include <array>
#include <cmath>
#include <vector>

namespace headwise::loss {
namespace {

namespace hw = headwise;

using check::near;
using check::random;
using check::thrown;

Matrix<double> row_of_four() { return Matrix<double>{{2, 1, -0.5, 0.3}}; }

TEST(CrossEntropy, SmoothsLabelsInBothConventions) {
  const std::vector<TokenId> targets{0};
  const Matrix<double> logits = row_of_four();
  EXPECT_NEAR(cross_entropy(logits, targets, {.smoothing = 0.1}), 0.620203214415, 1e-12);
  EXPECT_NEAR(cross_entropy(logits, targets, {.smoothing = 0.1, .smoothed = Smoothed::wrong_classes}),
              0.663536547749, 1e-12);
}

TEST(CrossEntropy, MeansOverTheTargetsThatCount) {
  const Matrix<double> logits = random(5, 6, 1);
  const std::vector<TokenId> targets{3, -100, 0, 5, -100};
  double sum = 0;
  for (Index i : {0, 2, 3}) {
    double total = 0;
    for (Index k = 0; k < 6; ++k) total += std::exp(logits(i, k));
    sum += std::log(total) - logits(i, targets[std::size_t(i)]);
  }
  EXPECT_NEAR(cross_entropy(logits, targets), sum / 3, 1e-14);
  EXPECT_NEAR(cross_entropy(logits, targets, {.reduction = Reduction::sum}), sum, 1e-14);
  EXPECT_NEAR(cross_entropy(logits.cast<float>(), targets), float(sum / 3), 1e-6f);
  const std::vector<TokenId> pad_is_zero{3, 0, 0, 5, 0};
  EXPECT_NE(cross_entropy(logits, pad_is_zero, {.ignored = 0}), cross_entropy(logits, pad_is_zero));
}

TEST(CrossEntropy, OfNothingIsZero) {
  const std::vector<TokenId> none{-100, -100};
  autograd::Tape<double> tape;
  const auto logits = tape.input(random(2, 3, 1));
  const auto loss = cross_entropy(logits, none);
  EXPECT_EQ(loss.value()(0, 0), 0);
  EXPECT_TRUE(backward(loss).of(logits).isZero(0));
}

TEST(CrossEntropy, HasItsGradient) {
  Rng rng(1);
  // [docs loss/cross_entropy]
  const std::vector<hw::TokenId> targets{2, 0, -100, 1};  // -100: does not count
  hw::autograd::Tape<double> tape;
  const auto logits = tape.input(hw::normal(4, 5, 1.0, rng));
  const auto loss = hw::loss::cross_entropy(logits, targets, {.smoothing = 0.1});
  const auto gradients = backward(loss);
  const double number =
      hw::loss::cross_entropy(logits.value(), targets, {.smoothing = 0.1});  // without a tape
  // [docs end]
  EXPECT_EQ(loss.value()(0, 0), number);
  EXPECT_TRUE(gradients.of(logits).row(2).isZero(0));
  for (const auto smoothed : {Smoothed::all_classes, Smoothed::wrong_classes}) {
    for (const double z_loss : {0.0, 0.3}) {
      const auto f = [&](const auto& x) {
        const auto value =
            cross_entropy(x[0], targets, {.smoothing = 0.2, .smoothed = smoothed, .z_loss = z_loss});
        if constexpr (requires { value.tape(); }) {
          return value;
        } else {
          using Scalar = std::remove_const_t<decltype(value)>;
          return Matrix<Scalar>(Matrix<Scalar>::Constant(1, 1, value));
        }
      };
      laws::expect_gradients(f, {random(4, 37, 1)});
    }
  }
}

TEST(CrossEntropy, SurvivesLargeAndHiddenLogits) {
  const double inf = std::numeric_limits<double>::infinity();
  const Matrix<double> logits{{1000, 0, -inf}, {-1000, -1001, -inf}};
  const std::vector<TokenId> targets{0, 1};
  EXPECT_NEAR(cross_entropy(logits, targets), (0 + 1 + std::log1p(std::exp(-1.0))) / 2, 1e-12);
  autograd::Tape<double> tape;
  const auto x = tape.input(logits);
  EXPECT_TRUE(backward(cross_entropy(x, targets)).of(x).allFinite());
}

TEST(CrossEntropy, NamesWhatDoesNotFit) {
  const Matrix<double> logits = random(2, 3, 1);
  EXPECT_EQ(thrown<ShapeError>([&] { (void)cross_entropy(logits, std::vector<TokenId>{1}); }),
            "cross_entropy: number of targets is 1, expected 2; one for each row of logits");
  EXPECT_EQ(thrown<ShapeError>([&] {
              (void)cross_entropy(logits, std::vector<TokenId>{1, 3});
            }),
            "cross_entropy: targets[1] is 3, expected 0 to 2, or -100 (ignored)");
  EXPECT_EQ(thrown<ShapeError>([&] {
              (void)cross_entropy(logits, std::vector<TokenId>{1, 2}, {.smoothing = 2});
            }),
            "cross_entropy: smoothing is 2.000000, expected 0 to 1");
}

TEST(InfoNce, PicksTheOwnCandidate) {
  const Matrix<double> scores{{1, 0.2, -0.3}, {0.1, 0.8, 0.4}, {-0.5, 0.3, 1.2}};
  EXPECT_NEAR(info_nce(scores), 0.593323265135, 1e-12);
  EXPECT_NEAR(info_nce(Matrix<double>(Matrix<double>::Constant(5, 5, 2.0))), std::log(5.0), 1e-14);
  EXPECT_EQ(thrown<ShapeError>([] { (void)info_nce(random(3, 2, 1)); }),
            "info_nce: columns of scores is 2, expected at least 3; one candidate for each context");
}

}  // namespace
}  // namespace headwise::loss
