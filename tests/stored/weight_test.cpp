#include <headwise/core/random.hpp>
#include <headwise/stored/weight.hpp>

#include <gtest/gtest.h>

#include "support/thrown.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace headwise::stored {
namespace {

using check::thrown;

/// Rows and columns around whole panels of 16 and whole blocks of 32.
constexpr Index some_rows[] = {1, 15, 16, 17, 33}, some_cols[] = {32, 64, 96};

TEST(StoredWeight, HoldsWhatTheFormatSays) {
  for (const FormatFacts& format : formats) {
    for (const Index rows : some_rows) {
      for (const Index cols : some_cols) {
        Rng rng(std::uint64_t(rows * cols));
        const Matrix<float> numbers = normal(rows, cols, 1.0f, rng);
        std::vector<std::byte> bytes(bytes_of(format.format, numbers.size()));
        encode(format.format, numbers.data(), numbers.size(), bytes.data());
        Matrix<float> expected(rows, cols);
        decode(format.format, bytes.data(), expected.size(), expected.data());

        const Weight weight = Weight::of(format.format, rows, cols, bytes);
        EXPECT_EQ(weight.matrix(), expected) << format.name << " " << rows << " " << cols;
        EXPECT_EQ(Weight::rounded(numbers, format.format).matrix(), expected);
        EXPECT_LE(weight.bytes(), bytes.size() / std::size_t(rows) * std::size_t(rows + 15));
      }
    }
  }
}

TEST(StoredWeight, RoundsToTheNearestOfItsNumbers) {
  Rng rng(3);
  const Matrix<float> numbers = normal(4, 64, 1.0f, rng);
  for (const FormatFacts& format : formats) {
    const Matrix<float> error = Weight::rounded(numbers, format.format).matrix() - numbers;
    for (Index row = 0; row < 4; ++row) {
      for (Index begin = 0; begin < 64; begin += 32) {
        const auto block = numbers.row(row).segment(begin, 32);
        const float largest = block.cwiseAbs().maxCoeff(), range = block.maxCoeff() - block.minCoeff();
        // Half a step of the quantum, and what the halves of scale and offset lose. In Q4_0 the largest
        // number of the sign that is not the extreme one's is cut off by up to a step.
        const float allowed = format.format == Format::q8_0   ? largest / 127 * 0.51f + largest * 0x1p-11f
                              : format.format == Format::q4_0 ? largest / 8 * 1.01f
                              : format.format == Format::q4_1 ? range / 15 * 0.51f + 16 * largest * 0x1p-11f
                              : format.format == Format::bf16 ? largest * 0x1p-8f
                              : format.format == Format::f16  ? largest * 0x1p-11f
                                                              : 0;
        EXPECT_LE(error.row(row).segment(begin, 32).cwiseAbs().maxCoeff(), allowed) << format.name;
      }
    }
  }
}

TEST(StoredWeight, ZerosTakeNoMemory) {
  const Weight weight = Weight::zeros(1000, 64);
  EXPECT_EQ(weight.rows(), 1000);
  EXPECT_EQ(weight.bytes(), 0u);
  EXPECT_EQ(weight.matrix(), (Matrix<float>::Zero(1000, 64)));
}

TEST(StoredWeight, NamesWhatDoesNotFit) {
  EXPECT_EQ(thrown<ShapeError>([] { (void)Weight::rounded(Matrix<float>::Zero(2, 33), Format::q8_0); }),
            "Weight: cols is 33, expected a multiple of 32 (the block of the format)");
  const std::vector<std::byte> bytes(7);
  EXPECT_EQ(thrown<ShapeError>([&] { (void)Weight::of(Format::f32, 2, 1, bytes); }),
            "Weight: bytes is 7, expected 8");
  EXPECT_EQ(thrown<ShapeError>([] { (void)Weight::zeros(-1, 2); }),
            "Weight: rows is -1, expected zero or more");
}

TEST(HalfFloats, EveryHalfComesBack) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float x = float_from_half(std::uint16_t(bits));
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(float_from_half(half_from_float(x))));
    } else {
      EXPECT_EQ(half_from_float(x), bits);
    }
    const float b = float_from_bfloat(std::uint16_t(bits));
    if (std::isnan(b)) {
      EXPECT_TRUE(std::isnan(float_from_bfloat(bfloat_from_float(b))));
    } else {
      EXPECT_EQ(bfloat_from_float(b), bits);
    }
  }
}

TEST(HalfFloats, RoundToNearestEven) {
  EXPECT_EQ(half_from_float(1 + 0x1p-11f), 0x3C00);  // half way: to even
  EXPECT_EQ(half_from_float(1 + 3 * 0x1p-11f), 0x3C02);
  EXPECT_EQ(half_from_float(1 + 0x1p-11f + 0x1p-20f), 0x3C01);
  EXPECT_EQ(half_from_float(65519.0f), 0x7BFF);
  EXPECT_EQ(half_from_float(65520.0f), 0x7C00);
  EXPECT_EQ(half_from_float(-std::numeric_limits<float>::infinity()), 0xFC00);
  EXPECT_EQ(half_from_float(0x1p-25f), 0);
  EXPECT_EQ(half_from_float(0x1.8p-25f), 1);
  EXPECT_EQ(half_from_float(-0x1p-14f + 0x1p-26f), 0x8400);  // up to the smallest normal
  EXPECT_EQ(bfloat_from_float(1 + 0x1p-8f), 0x3F80);
  EXPECT_EQ(bfloat_from_float(1 + 3 * 0x1p-8f), 0x3F82);
}

}  // namespace
}  // namespace headwise::stored
