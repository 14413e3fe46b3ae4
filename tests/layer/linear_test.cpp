#include <headwise/layer/linear.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/thrown.hpp"

#include <string>
#include <vector>

namespace headwise::layer {
namespace {

namespace hw = headwise;

using check::near;
using check::random;
using check::thrown;

Matrix<double> by_loops(const Matrix<double>& x, const Matrix<double>& weight, const Matrix<double>& bias) {
  Matrix<double> out(x.rows(), weight.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < weight.rows(); ++j) {
      out(i, j) = bias(0, j);
      for (Index k = 0; k < x.cols(); ++k) out(i, j) += x(i, k) * weight(j, k);
    }
  }
  return out;
}

TEST(Affine, IsTheProductWithTheTransposedWeightPlusTheBias) {
  for (Index rows : {0, 1, 63, 64, 65}) {
    const auto x = random(rows, 7, 1), weight = random(40, 7, 2), bias = random(1, 40, 3);
    EXPECT_TRUE(near(affine(x, Parameter<double>{weight}, Parameter<double>{bias}), by_loops(x, weight, bias),
                     1e-13));
  }
}

TEST(Affine, NamesTheOperandThatDoesNotFit) {
  const auto x = random(3, 4, 1);
  EXPECT_EQ(thrown<ShapeError>([&] { (void)affine(x, random(6, 4, 2), random(1, 5, 3)); }),
            "affine: columns of the bias is 5, expected 6");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)affine(x, random(6, 3, 2), random(1, 6, 3)); }),
            "multiply_transposed: columns of the right factor is 3, expected 4");
}

TEST(Linear, MultipliesByItsWeightAndAddsItsBias) {
  Rng rng(1);
  // [docs layer/linear]
  hw::layer::Linear<double> linear({.in = 5, .out = 3}, rng);
  const hw::Matrix<double> x = hw::normal(2, 5, 1.0, rng);
  const hw::Matrix<double> y = linear(x);  // [2, 3]
  // [docs end]
  EXPECT_TRUE(near(y, by_loops(x, linear.weight(), linear.bias()), 1e-14));

  const Eigen::MatrixXd columns = x;
  EXPECT_TRUE(near(linear(columns), y, 1e-15));
}

TEST(Linear, DrawsItsWeightAsXavierSays) {
  Rng rng(3);
  const Linear<double> linear({.in = 30, .out = 20}, rng);
  const double bound = std::sqrt(6.0 / 50);
  const double largest = linear.weight().cwiseAbs().maxCoeff();
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.95 * bound);
  EXPECT_TRUE(linear.bias().isZero(0));
}

TEST(Linear, DrawsOrLeavesZerosAsTold) {
  Rng rng(3);
  const Linear<double> drawn({.in = 64, .out = 64}, Initial::drawn(rng, 0.02));
  EXPECT_NEAR(std::sqrt(drawn.weight().squaredNorm() / 4096), 0.02, 0.001);
  const Linear<double> zeros({.in = 64, .out = 64}, Initial::zeros());
  EXPECT_TRUE(zeros.weight().isZero(0));
}

TEST(Linear, ListsItsParametersByName) {
  Rng rng(1);
  std::vector<std::string> names;
  const auto note = [&](std::string_view name, const auto& p) {
    names.push_back(std::string(name) + " " + std::to_string(p.rows()) + "x" + std::to_string(p.cols()));
  };
  Linear<float>({.in = 5, .out = 3}, rng).for_each_parameter(note);
  Linear<float>({.in = 5, .out = 3, .bias = false}, rng).for_each_parameter(note);
  EXPECT_EQ(names, (std::vector<std::string>{"weight 3x5", "bias 1x3", "weight 3x5"}));
}

TEST(Linear, NamesWhatDoesNotFit) {
  Rng rng(1);
  const Linear<double> linear({.in = 5, .out = 3}, rng);
  EXPECT_EQ(thrown<ShapeError>([&] { (void)linear(random(2, 4, 1)); }),
            "Linear: columns of x is 4, expected 5");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)Linear<double>({.in = 5}, rng); }),
            "Linear: out is 0, expected a positive number");
}

}  // namespace
}  // namespace headwise::layer
