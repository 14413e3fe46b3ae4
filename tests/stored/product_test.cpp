#include <headwise/core/random.hpp>
#include <headwise/stored/product.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/instruction_sets.hpp"
#include "support/reference.hpp"
#include "support/thrown.hpp"

#include <string>
#include <vector>

namespace headwise::stored {
namespace {

namespace hw = headwise;

using check::near;
using check::thrown;

/// x W^T by plain loops in double over the dequantised numbers.
Matrix<double> expected_product(const Matrix<float>& x, const Weight& weight) {
  return reference::product(x.cast<double>(), weight.matrix().cast<double>().transpose());
}

/// Sums of `cols` products of numbers around 1 in float.
double tolerance(Index cols) { return 4e-7 * double(cols); }

TEST(StoredProduct, IsThatOfTheDequantisedNumbers) {
  for (const FormatFacts& format : formats) {
    for (const Index rows : {1, 16, 37}) {
      Rng rng(7);
      const Weight weight = Weight::rounded(normal(rows, 96, 1.0f, rng), format.format);
      for (const Index n : {0, 1, 2, 4, 5, 16, 17, 65}) {
        const Matrix<float> x = normal(n, 96, 1.0f, rng);
        EXPECT_TRUE(near(multiply_transposed(x, weight), expected_product(x, weight), tolerance(96)))
            << format.name << " " << rows << " " << n;
      }
    }
  }
}

TEST(StoredProduct, IsThatOnEveryInstructionSet) {
  Rng rng(8);
  const Matrix<float> x = normal(4, 64, 1.0f, rng);
  const std::vector<float> sums = detail::block_sums(x);
  for (const FormatFacts& format : formats) {
    const Weight weight = Weight::rounded(normal(16, 64, 1.0f, rng), format.format);
    const Matrix<double> expected = expected_product(x, weight);
    for (const InstructionSet set : check::instruction_sets()) {
      SCOPED_TRACE(std::string(format.name) + " " + name(set));
      const PanelKernels kernels = panel_kernels(format.format, set);
      Matrix<float> four(4, 16), one(1, 16), unpacked(64, 16);
      kernels.four(weight.panel(0), 64, x.data(), 64, sums.data(), 2, four.data());
      kernels.one(weight.panel(0), 64, x.data() + 64, 64, sums.data() + 2, 2, one.data());
      kernels.unpack(weight.panel(0), 64, unpacked.data(), 16);
      EXPECT_TRUE(near(four, expected, tolerance(64)));
      EXPECT_TRUE(near(one, expected.row(1), tolerance(64)));
      EXPECT_TRUE(
          near(unpacked.transpose(), weight.matrix(), 0, 1.2e-7));  // a product and a sum, or both in one
    }
  }
}

/// All halves, the smallest and the infinite among them, as the kernels of each instruction set read them.
TEST(StoredProduct, ReadsEveryHalf) {
  Matrix<float> halves(16, 4096);
  for (Index i = 0; i < halves.size(); ++i) halves.data()[i] = float_from_half(std::uint16_t(i));
  const Weight weight = Weight::rounded(halves, Format::f16);
  for (const InstructionSet set : check::instruction_sets()) {
    Matrix<float> unpacked(4096, 16);
    panel_kernels(Format::f16, set).unpack(weight.panel(0), 4096, unpacked.data(), 16);
    for (Index row = 0; row < 16; ++row) {
      for (Index k = 0; k < 4096; ++k) {
        const float got = unpacked(k, row), expected = halves(row, k);
        EXPECT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected)))
            << name(set) << " " << row * 4096 + k;
      }
    }
  }
}

TEST(StoredProduct, TakesBlocksOfWiderMatricesAndOddColumns) {
  Rng rng(9);
  const Matrix<float> wide = normal(5, 50, 1.0f, rng);
  const Weight weight = Weight::rounded(normal(18, 33, 1.0f, rng), Format::bf16);
  const Matrix<float> x = wide.middleCols(10, 33);
  EXPECT_TRUE(
      near(multiply_transposed(wide.middleCols(10, 33), weight), expected_product(x, weight), tolerance(33)));
}

TEST(StoredProduct, AddsABiasAndEmbeds) {
  Rng rng(10);
  const Weight weight = Weight::rounded(normal(20, 32, 1.0f, rng), Format::q8_0);
  const Matrix<float> x = normal(3, 32, 1.0f, rng), bias = normal(1, 20, 1.0f, rng);
  Matrix<double> expected = expected_product(x, weight);
  expected.rowwise() += bias.row(0).cast<double>();
  EXPECT_TRUE(near(affine(x, weight, bias), expected, tolerance(32)));
  const Matrix<float> rows = embed(weight, std::vector<TokenId>{19, 0, 19});
  EXPECT_EQ(rows.row(0), weight.matrix().row(19));
  EXPECT_EQ(rows.row(1), weight.matrix().row(0));
  EXPECT_EQ(rows.row(2), rows.row(0));
}

TEST(StoredProduct, IsNearThatOfTheMatrixItWasMadeFrom) {
  Rng rng(11);
  const Matrix<float> matrix = normal(48, 64, 1.0f, rng), x = normal(2, 64, 1.0f, rng);
  // [docs stored/weight]
  const hw::stored::Weight weight = hw::stored::Weight::rounded(matrix, hw::stored::Format::q8_0);
  const hw::Matrix<float> y = multiply_transposed(x, weight);  // x W^T
  // [docs end]
  const Matrix<double> exact = reference::product(x.cast<double>(), matrix.cast<double>().transpose());
  // Each weight is off by at most half a step of 1/127 of its block's largest, and by what a half loses of
  // the scale.
  const double step = double(matrix.cwiseAbs().maxCoeff()) / 127;
  EXPECT_TRUE(near(y, exact, double(x.cwiseAbs().rowwise().sum().maxCoeff()) * step * (0.5 + 127 * 0x1p-11)));
}

TEST(StoredProduct, OfZerosIsZero) {
  EXPECT_EQ(multiply_transposed(Matrix<float>::Ones(2, 8), Weight::zeros(3, 8)), (Matrix<float>::Zero(2, 3)));
}

TEST(StoredProduct, NamesWhatDoesNotFit) {
  const Weight weight = Weight::zeros(3, 8);
  EXPECT_EQ(thrown<ShapeError>([&] { (void)multiply_transposed(Matrix<float>::Ones(2, 7), weight); }),
            "multiply_transposed: columns of the right factor is 8, expected 7");
  EXPECT_EQ(
      thrown<ShapeError>([&] { (void)affine(Matrix<float>::Ones(2, 8), weight, Matrix<float>::Ones(1, 4)); }),
      "affine: columns of the bias is 4, expected 3");
  EXPECT_EQ(thrown<ShapeError>([&] {
              (void)embed(weight, std::vector<TokenId>{0, 3});
            }),
            "embed: ids[1] is 3, expected a row of the table, 0 to 2");
}

}  // namespace
}  // namespace headwise::stored
