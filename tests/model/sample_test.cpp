#include <headwise/model/sample.hpp>

#include <gtest/gtest.h>

#include "support/thrown.hpp"

#include <cmath>
#include <limits>
#include <set>
#include <vector>

namespace headwise::model {
namespace {

using check::thrown;

Matrix<double> logits_of(std::initializer_list<double> probabilities) {
  Matrix<double> logits(1, Index(probabilities.size()));
  Index column = 0;
  for (const double p : probabilities) logits(0, column++) = std::log(p);
  return logits;
}

std::vector<double> shares(const Matrix<double>& logits, const SampleOptions& options) {
  constexpr int draws = 20000;
  std::vector<double> result(std::size_t(logits.cols()), 0);
  Rng rng(5);
  for (int i = 0; i < draws; ++i) result[std::size_t(sample(logits, options, rng))] += 1.0 / draws;
  return result;
}

/// Five standard deviations of a share over 20,000 draws are at most 0.018.
void expect_shares(const std::vector<double>& got, std::initializer_list<double> expected) {
  ASSERT_EQ(got.size(), expected.size());
  std::size_t i = 0;
  for (const double p : expected) {
    if (p == 0) {
      EXPECT_EQ(got[i], 0) << i;
    }
    EXPECT_NEAR(got[i], p, 0.018) << i;
    ++i;
  }
}

TEST(Sample, DrawsWithTheProbabilitiesOfTheSoftmax) {
  expect_shares(shares(logits_of({0.5, 0.2, 0.3}), {}), {0.5, 0.2, 0.3});
}

TEST(Sample, TemperatureSharpensAndFlattens) {
  const auto logits = logits_of({0.5, 0.2, 0.3});
  // Probabilities to the power 1 / temperature: 0.25, 0.04, 0.09 of 0.38.
  expect_shares(shares(logits, {.temperature = 0.5}), {0.25 / 0.38, 0.04 / 0.38, 0.09 / 0.38});
  expect_shares(shares(logits, {.temperature = 0}), {1, 0, 0});
}

TEST(Sample, TopKAndTopPCutTheTail) {
  const auto logits = logits_of({0.4, 0.1, 0.3, 0.2});
  expect_shares(shares(logits, {.top_k = 2}), {4.0 / 7, 0, 3.0 / 7, 0});
  expect_shares(shares(logits, {.top_k = 9}), {0.4, 0.1, 0.3, 0.2});
  expect_shares(shares(logits, {.top_p = 0.6}), {4.0 / 7, 0, 3.0 / 7, 0});
  expect_shares(shares(logits, {.top_p = 0.01}), {1, 0, 0, 0});
  expect_shares(shares(logits, {.top_k = 3, .top_p = 0.5}),
                {4.0 / 7, 0, 3.0 / 7, 0});  // 0.5 of what top_k left
}

TEST(Sample, TheLowerOfEqualsComesFirst) {
  Rng rng(1);
  EXPECT_EQ(sample(logits_of({0.2, 0.4, 0.4}), {.temperature = 0}, rng), 1);
  EXPECT_EQ(sample(logits_of({0.2, 0.4, 0.4}), {.top_k = 1}, rng), 1);
}

TEST(Sample, NeverTakesATokenOfProbabilityZero) {
  Matrix<float> logits = Matrix<float>::Constant(1, 5, -std::numeric_limits<float>::infinity());
  logits(0, 3) = 1;
  Rng rng(2);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(sample(logits, {}, rng), 3);
}

TEST(Sample, SameSeedSameTokens) {
  const auto logits = logits_of({0.25, 0.25, 0.25, 0.25});
  Rng a(7), b(7);
  std::set<TokenId> seen;
  for (int i = 0; i < 50; ++i) {
    const TokenId token = sample(logits, {}, a);
    EXPECT_EQ(token, sample(logits, {}, b));
    seen.insert(token);
  }
  EXPECT_EQ(seen.size(), 4u);
}

TEST(Sample, NamesWhatIsOutOfRange) {
  const auto reason = [](const Matrix<double>& logits, const SampleOptions& options) {
    Rng rng(1);
    return thrown<ShapeError>([&] { (void)sample(logits, options, rng); });
  };
  const auto logits = logits_of({1});
  EXPECT_EQ(reason(Matrix<double>::Zero(2, 3), {}), "sample: rows of logits is 2, expected 1");
  EXPECT_EQ(reason(Matrix<double>::Zero(1, 0), {}),
            "sample: columns of logits is 0, expected a positive number");
  EXPECT_EQ(reason(logits, {.temperature = -1}), "sample: temperature is -1.000000, expected 0 or more");
  EXPECT_EQ(reason(logits, {.top_k = -1}), "sample: top_k is -1, expected zero or more");
  EXPECT_EQ(reason(logits, {.top_p = 0}), "sample: top_p is 0.000000, expected above 0, at most 1");
}

}  // namespace
}  // namespace headwise::model
