#include <headwise/optimizer/clip.hpp>
#include <headwise/optimizer/schedule.hpp>
#include <headwise/optimizer/sgd.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/pattern_laws.hpp"
#include "support/thrown.hpp"

#include <cmath>
#include <string>

namespace headwise::optimizer::sgd_test {
namespace {

namespace hw = headwise;

using check::near;
using check::random;

struct Single {
  Parameter<double> parameter;
  void for_each_parameter(auto&& visit) { visit(std::string_view("weight"), parameter); }
  void for_each_parameter(auto&& visit) const { visit(std::string_view("weight"), parameter); }
};

TEST(Sgd, KeepsItsMomentum) {
  Single model{{random(5, 7, 1)}};
  Matrix<double> w = model.parameter.value, v = Matrix<double>::Zero(5, 7);
  Sgd<double> sgd(model, {.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.01});
  for (std::uint64_t t = 0; t < 4; ++t) {
    const Matrix<double> g = random(5, 7, 10 + t);
    autograd::Gradients<double> gradients;
    gradients.set(model.parameter.value, g);
    sgd.step(model, gradients);
    for (Index i = 0; i < w.size(); ++i) {
      v.data()[i] = 0.9 * v.data()[i] + g.data()[i] + 0.01 * w.data()[i];
      w.data()[i] -= 0.1 * v.data()[i];
    }
  }
  EXPECT_TRUE(near(model.parameter.value, w, 1e-14));
  sgd.for_each_parameter([&](std::string_view name, const auto& velocity) {
    EXPECT_EQ(name, "velocity.weight");
    EXPECT_TRUE(near(velocity.value, v, 1e-14));
  });
}

TEST(Sgd, RefusesSettingsOutOfTheirRange) {
  Single model{{random(2, 2, 1)}};
  const auto refusal = [&](const SgdOptions& options) {
    return check::refusal([&] { (void)Sgd<double>(model, options); });
  };
  EXPECT_EQ(refusal({.learning_rate = 0}), "accepted");
  EXPECT_EQ(refusal({.learning_rate = -1}),
            "Sgd: learning_rate is -1.000000, expected a finite number, 0 or more");
  EXPECT_EQ(refusal({.momentum = 1}), "Sgd: momentum is 1.000000, expected at least 0 and below 1");
  EXPECT_EQ(refusal({.weight_decay = -1}),
            "Sgd: weight_decay is -1.000000, expected a finite number, 0 or more");
}

TEST(Clip, ScalesAllGradientsTogether) {
  const Matrix<double> a = Matrix<double>::Zero(1, 1), b = Matrix<double>::Zero(1, 1);
  // [docs optimizer/clip]
  hw::autograd::Gradients<double> gradients;
  gradients.set(a, hw::Matrix<double>{{3}});
  gradients.set(b, hw::Matrix<double>{{-4}});
  const double norm = hw::optimizer::clip_global_norm(gradients, 1.0);  // 5 before, 1 after
  // [docs end]
  EXPECT_EQ(norm, 5);
  EXPECT_NEAR(global_norm(gradients), 5 / (5 + 1e-6), 1e-15);
  const double clipped = global_norm(gradients);
  EXPECT_EQ(clip_global_norm(gradients, 2.0), clipped);
  EXPECT_EQ(global_norm(gradients), clipped) << "what is small stays";
  EXPECT_EQ(check::thrown<ShapeError>([&] { clip_global_norm(gradients, 0); }),
            "clip_global_norm: limit is 0.000000, expected a number above 0");
}

TEST(Schedule, InverseSquareRootRisesAndFalls) {
  // [docs optimizer/schedule]
  const hw::optimizer::InverseSquareRoot rate{.d_model = 512, .warm_up = 4000};
  const double first = rate(1), highest = rate(4000);  // steps count from 1
  // [docs end]
  EXPECT_NEAR(first, 1.746928107422e-07, 1e-19);
  EXPECT_NEAR(highest, 6.987712429687e-04, 1e-16);
  EXPECT_LT(rate(3999), highest);
  EXPECT_LT(rate(4001), highest);
  EXPECT_NEAR((InverseSquareRoot{.d_model = 512, .warm_up = 4000, .factor = 2}(16000)), highest, 1e-16);
}

TEST(Schedule, OthersRiseToTheirPeakAndFallToTheirFloor) {
  const WarmUp warm{.peak = 2, .warm_up = 4};
  EXPECT_EQ(warm(1), 0.5);
  EXPECT_EQ(warm(4), 2);
  EXPECT_EQ(warm(400), 2);
  const LinearDecay linear{.peak = 2, .warm_up = 4, .steps = 14, .floor = 0.25};
  EXPECT_EQ(linear(2), 1);
  EXPECT_EQ(linear(4), 2);
  EXPECT_EQ(linear(9), 1.25);
  EXPECT_EQ(linear(14), 0.5);
  EXPECT_EQ(linear(99), 0.5);
  const Cosine cosine{.peak = 2, .warm_up = 4, .steps = 14, .floor = 0.1};
  EXPECT_EQ(cosine(2), 1);
  EXPECT_EQ(cosine(4), 2);
  EXPECT_NEAR(cosine(9), 1.1, 1e-15);
  EXPECT_NEAR(cosine(14), 0.2, 1e-15);
  EXPECT_NEAR(cosine(99), 0.2, 1e-15);
  EXPECT_NEAR((Cosine{.peak = 1, .steps = 4}(1)), (1 + std::cos(std::acos(-1.0) / 4)) / 2, 1e-15);
}

}  // namespace
}  // namespace headwise::optimizer::sgd_test
