#include <headwise/layer/norm.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/thrown.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace headwise::layer {
namespace {

namespace hw = headwise;

using check::near;
using check::random;
using check::thrown;

Matrix<double> layer_norm_by_loops(const Matrix<double>& x, const Matrix<double>& gain,
                                   const Matrix<double>& bias, double eps) {
  Matrix<double> out(x.rows(), x.cols());
  for (Index i = 0; i < x.rows(); ++i) {
    double mean = 0, variance = 0;
    for (Index j = 0; j < x.cols(); ++j) mean += x(i, j) / double(x.cols());
    for (Index j = 0; j < x.cols(); ++j) variance += (x(i, j) - mean) * (x(i, j) - mean) / double(x.cols());
    for (Index j = 0; j < x.cols(); ++j) {
      out(i, j) = gain(0, j) * (x(i, j) - mean) / std::sqrt(variance + eps) + bias(0, j);
    }
  }
  return out;
}

Matrix<double> rms_norm_by_loops(const Matrix<double>& x, const Matrix<double>& gain, double eps) {
  Matrix<double> out(x.rows(), x.cols());
  for (Index i = 0; i < x.rows(); ++i) {
    double square = 0;
    for (Index j = 0; j < x.cols(); ++j) square += x(i, j) * x(i, j) / double(x.cols());
    for (Index j = 0; j < x.cols(); ++j) out(i, j) = gain(0, j) * x(i, j) / std::sqrt(square + eps);
  }
  return out;
}

TEST(Normalise, FollowsTheFormulasAtAnyWidth) {
  for (Index rows : {0, 1, 5}) {
    for (Index width : {1, 15, 16, 17, 63, 64, 65}) {
      const Matrix<double> x = 2 * random(rows, width, 1) + Matrix<double>::Constant(rows, width, 3);
      const auto gain = random(1, width, 2), bias = random(1, width, 3);
      const Matrix<double> zero = Matrix<double>::Zero(1, width);
      EXPECT_TRUE(near(layer_norm(x, gain, bias, 1e-3), layer_norm_by_loops(x, gain, bias, 1e-3), 1e-12));
      EXPECT_TRUE(near(layer_norm(Matrix<double>(x), gain, bias, 1e-3), layer_norm(x, gain, bias, 1e-3), 0));
      EXPECT_TRUE(near(layer_norm(x, gain, 1e-3), layer_norm_by_loops(x, gain, zero, 1e-3), 1e-12));
      EXPECT_TRUE(near(rms_norm(x, gain, 1e-3), rms_norm_by_loops(x, gain, 1e-3), 1e-12));
    }
  }
}

TEST(Normalise, DoesNotCancelFarFromZero) {
  const Matrix<double> x = random(2, 384, 1) + Matrix<double>::Constant(2, 384, 1000);
  const Matrix<float> narrow = x.cast<float>();
  const auto gain = random(1, 384, 2), bias = random(1, 384, 3);
  const Matrix<float> got =
      layer_norm(narrow, Matrix<float>(gain.cast<float>()), Matrix<float>(bias.cast<float>()), 1e-5);
  EXPECT_TRUE(near(got, layer_norm_by_loops(narrow.cast<double>(), gain, bias, 1e-5), 1e-3));
}

TEST(NormaliseRows, GivesLengthOneAndLeavesZerosAlone) {
  Matrix<double> x = random(3, 7, 1);
  x.row(1).setZero();
  const Matrix<double> y = normalise_rows(x);
  EXPECT_TRUE(near(y.row(0), x.row(0) / x.row(0).norm(), 1e-15));
  EXPECT_TRUE(y.row(1).isZero(0));
}

TEST(LayerNorm, StartsAsTheNormAlone) {
  // [docs layer/layer_norm]
  const hw::layer::LayerNorm<double> norm({.width = 6, .eps = 1e-5});
  hw::Matrix<double> x(1, 6);
  x << 1, 2, 3, 4, 5, 6;
  const hw::Matrix<double> y = norm(x);  // mean 0, variance 1
  // [docs end]
  EXPECT_NEAR(y.mean(), 0, 1e-15);
  EXPECT_NEAR(y.squaredNorm() / 6, 1, 1e-5);
}

std::vector<std::string> names_of(const Norm<double>& norm) {
  std::vector<std::string> names;
  norm.for_each_parameter([&](std::string_view name, const auto&) { names.emplace_back(name); });
  return names;
}

TEST(Norm, IsTheKindThatIsNamed) {
  const auto x = random(3, 9, 1);
  const Matrix<double> one = Matrix<double>::Ones(1, 9), zero = Matrix<double>::Zero(1, 9);
  const Norm<double> layer({.kind = NormKind::layer, .width = 9, .eps = 1e-4});
  const Norm<double> shiftless({.kind = NormKind::layer, .width = 9, .eps = 1e-4, .bias = false});
  const Norm<double> rms({.kind = NormKind::rms, .width = 9, .eps = 1e-4});
  EXPECT_TRUE(near(layer(x), layer_norm_by_loops(x, one, zero, 1e-4), 1e-13));
  EXPECT_TRUE(near(rms(x), rms_norm_by_loops(x, one, 1e-4), 1e-13));
  EXPECT_EQ(names_of(layer), (std::vector<std::string>{"weight", "bias"}));
  EXPECT_EQ(names_of(shiftless), (std::vector<std::string>{"weight"}));
  EXPECT_EQ(names_of(rms), (std::vector<std::string>{"weight"}));
}

TEST(Norm, NamesWhatDoesNotFit) {
  const LayerNorm<double> layer({.width = 4});
  const RmsNorm<double> rms({.width = 4});
  EXPECT_EQ(thrown<ShapeError>([&] { (void)layer(random(2, 5, 1)); }),
            "LayerNorm: columns of x is 5, expected 4");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)rms(random(2, 5, 1)); }),
            "RmsNorm: columns of x is 5, expected 4");
  EXPECT_EQ(
      thrown<ShapeError>([&] { (void)layer_norm(random(2, 4, 1), random(1, 4, 2), random(1, 3, 2), 0); }),
      "layer_norm: bias columns is 3, expected 4");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)rms_norm(random(2, 4, 1), random(2, 4, 2), 0); }),
            "rms_norm: gain rows is 2, expected 1");
}

}  // namespace
}  // namespace headwise::layer
