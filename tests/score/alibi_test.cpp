#include <headwise/score/alibi.hpp>

#include <gtest/gtest.h>

#include "support/score_laws.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace headwise::score::alibi_test {
namespace {

struct Fixed {
  static auto score() { return Alibi{4}; }
};
struct FixedOnBothSides {
  static auto score() { return Alibi{4, {.distance = AlibiDistance::symmetric, .factor = 0.25}}; }
};
struct LearnedOnBothSides {
  static auto score() {
    return Alibi(Parameter<double>{alibi_slopes(4)}, {.distance = AlibiDistance::symmetric, .factor = 0.25});
  }
};
using Samples = testing::Types<Fixed, FixedOnBothSides, LearnedOnBothSides>;
INSTANTIATE_TYPED_TEST_SUITE_P(Alibi, ScoreLaws, Samples);

Context head(Index head, Index heads) {
  Context c;
  c.head = head;
  c.heads = heads;
  return c;
}

void expect_slopes(const std::vector<double>& expected) {
  const Matrix<double> slopes = alibi_slopes(Index(expected.size()));
  for (Index i = 0; i < slopes.rows(); ++i) EXPECT_NEAR(slopes(i, 0), expected[std::size_t(i)], 1e-8) << i;
}

TEST(Alibi, SlopesOfAPowerOfTwoAreAGeometricSequence) {
  expect_slopes({0x1p-8});
  expect_slopes({0x1p-4, 0x1p-8});
  expect_slopes({0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625});
}

TEST(Alibi, B62_SlopesForAnyHeadCount) {
  expect_slopes({0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125});
  expect_slopes({0.0625, 0.00390625, 0.25});
  expect_slopes({0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625, 0.70710678, 0.35355339,
                 0.1767767, 0.08838835});
}

/// Powers of two survive a 16-bit float; the second group must not be read with another element size.
TEST(Alibi, B64_SlopesOfSixHeadsAreExact) {
  const std::vector<double> expected{0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125};
  const Matrix<float> slopes = alibi_slopes<float>(6);
  for (Index i = 0; i < 6; ++i) {
    EXPECT_EQ(double(slopes(i, 0)), expected[std::size_t(i)]);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(slopes(i, 0)) & 0x1fffu, 0u) << "not a half";
    EXPECT_EQ(double(bind_score<float>(Alibi{6}, head(i, 6))(0.0f, 1, 0)), -expected[std::size_t(i)]);
  }
}

TEST(Alibi, AddsTheSlopeTimesKeyMinusQuery) {
  const auto bound = bind_score<double>(Alibi{8}, head(0, 8));
  EXPECT_EQ(bound(2.0, 5, 5), 2.0);
  EXPECT_EQ(bound(2.0, 5, 2), 0.5);
  EXPECT_EQ(bound(2.0, 5, 7), 3.0);  // a future key, should the mask show it
}

TEST(Alibi, PenalisesBothSidesWhenSymmetric) {
  const auto bound = bind_score<double>(Alibi{8, {.distance = AlibiDistance::symmetric}}, head(0, 8));
  EXPECT_EQ(bound(2.0, 5, 5), 2.0);
  EXPECT_EQ(bound(2.0, 5, 2), 0.5);
  EXPECT_EQ(bound(2.0, 5, 8), 0.5);
}

TEST(Alibi, FactorScalesTheBias) {
  const auto bound = bind_score<double>(Alibi{8, {.factor = 0.125}}, head(0, 8));
  EXPECT_EQ(bound(2.0, 5, 1), 2.0 - 0.125 * 0.5 * 4);
}

TEST(Alibi, IsTheSameAnywhereOnTheLine) {
  const auto bound = bind_score<double>(Alibi{8}, head(2, 8));
  for (Position shift : {0, 1, 1000, 1'000'000}) EXPECT_EQ(bound(0.0, 7 + shift, 3 + shift), -0.5);
}

/// scores .2, -.1, .4, .3 of the last query, slope 1/2; the reversed order of distances gives .466... first.
TEST(Alibi, WeightsOfTheLastQueryAreTheComputedOnes) {
  const auto bound = bind_score<double>(Alibi{8}, head(0, 8));
  const std::vector<double> scores{0.2, -0.1, 0.4, 0.3};
  const std::vector<double> expected{0.095287534901, 0.116384457946, 0.316365757150, 0.471962250004};
  double sum = 0;
  for (Position k = 0; k < 4; ++k) sum += std::exp(bound(scores[std::size_t(k)], 3, k));
  for (Position k = 0; k < 4; ++k)
    EXPECT_NEAR(std::exp(bound(scores[std::size_t(k)], 3, k)) / sum, expected[std::size_t(k)], 1e-12);
}

TEST(Alibi, LearnedSlopesStartAsThePublishedOnes) {
  const Alibi learned(Parameter<float>{alibi_slopes<float>(6)});
  for (Index h = 0; h < 6; ++h) {
    EXPECT_EQ(bind_score<float>(learned, head(h, 6))(1.0f, 9, 4),
              bind_score<float>(Alibi{6}, head(h, 6))(1.0f, 9, 4));
  }
}

template <class Score>
std::string refusal(const Score& score, const Context& context) {
  try {
    check_score(score, context);
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Alibi, RefusesAnotherNumberOfHeads) {
  EXPECT_EQ(refusal(Alibi{8}, head(0, 4)), "Alibi: heads is 8, expected 4; give the number of query heads");
  EXPECT_EQ(refusal(Alibi(alibi_slopes(8)), head(0, 4)),
            "Alibi: rows of slopes is 8, expected 4; one slope for each query head");
  EXPECT_EQ(refusal(Alibi{4}, head(0, 4)), "accepted");
}

TEST(Alibi, RefusesNoHeadsAndSlopesInARow) {
  EXPECT_THROW(Alibi{0}, ShapeError);
  EXPECT_THROW((void)alibi_slopes(0), ShapeError);
  EXPECT_THROW(Alibi(Matrix<double>(1, 4)), ShapeError);
}

}  // namespace
}  // namespace headwise::score::alibi_test
