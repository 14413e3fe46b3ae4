#include <headwise/attention/attend.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/instruction_sets.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headwise::accuracy_test {
namespace {

using check::random;

/// With keys 0 and 1 and values 0 and 1, a query x gives exp(x) / (1 + exp(x)).
template <class Scalar>
double worst_weight_error(InstructionSet set, double low, double high, double slope) {
  constexpr Index count = 20001;
  Matrix<Scalar> query(count, 1), key(2, 1), value(2, 1);
  for (Index i = 0; i < count; ++i) query(i, 0) = Scalar(low + (high - low) * double(i) / double(count - 1));
  key << Scalar(0), Scalar(1);
  value << Scalar(0), Scalar(1);
  const Matrix<Scalar> output =
      attend(query, key, value, {.scale = 1.0, .query_offset = 0, .instruction_set = set});
  double worst = 0;
  for (Index i = 0; i < count; ++i) {
    const long double e = std::exp(static_cast<long double>(query(i, 0))), expected = e / (1 + e);
    const double error = double(std::abs((static_cast<long double>(output(i, 0)) - expected) / expected));
    worst = std::max(worst, error - slope * std::abs(double(query(i, 0))));
  }
  return worst;
}

TEST(Accuracy, OfTheWeightsOverTheirWholeRange) {
  for (InstructionSet set : check::instruction_sets()) {
    EXPECT_LT(worst_weight_error<float>(set, -87, 0, 2e-8), 4e-7) << name(set);
    EXPECT_LT(worst_weight_error<double>(set, -708, 0, 1e-16), 8e-16) << name(set);
  }
}

/// The largest error of float attention against the same numbers in long double, at a few rows.
double worst_error(Index length, Index dim, float size, InstructionSet set) {
  const Matrix<float> query = size * random(64, dim, 1).cast<float>(),
                      key = random(length, dim, 2).cast<float>(),
                      value = random(length, dim, 3).cast<float>();
  const Matrix<float> output =
      attend(query, key, value, {.scale = 1.0, .query_offset = 0, .instruction_set = set});
  double worst = 0;
  for (Index row : {0, 17, 63}) {
    std::vector<long double> score(std::size_t(length), 0.0L), sum(std::size_t(dim), 0.0L);
    for (Index j = 0; j < length; ++j)
      for (Index x = 0; x < dim; ++x)
        score[std::size_t(j)] +=
            static_cast<long double>(query(row, x)) * static_cast<long double>(key(j, x));
    const long double top = *std::max_element(score.begin(), score.end());
    long double total = 0;
    for (Index j = 0; j < length; ++j) {
      const long double weight = std::exp(score[std::size_t(j)] - top);
      total += weight;
      for (Index x = 0; x < dim; ++x) sum[std::size_t(x)] += weight * static_cast<long double>(value(j, x));
    }
    for (Index x = 0; x < dim; ++x)
      worst = std::max(
          worst, double(std::abs(static_cast<long double>(output(row, x)) - sum[std::size_t(x)] / total)));
  }
  return worst;
}

TEST(Accuracy, OfSmallAndOfLargeScoresAndOfLongSequences) {
  for (InstructionSet set : check::instruction_sets()) {
    EXPECT_LT(worst_error(512, 64, 0.1f, set), 1e-6) << name(set);
    EXPECT_LT(worst_error(512, 256, 4.0f, set), 4e-5) << name(set);
    EXPECT_LT(worst_error(16384, 64, 0.1f, set), 1e-6) << name(set);
  }
}

TEST(Accuracy, ExtremeFiniteInputGivesNoNaN) {
  for (InstructionSet set : check::instruction_sets()) {
    for (float size : {1e-30f, 1e4f, 1e15f}) {
      const Matrix<float> x = size * random(70, 16, 5).cast<float>();
      EXPECT_TRUE(attend(x, x, x, {.instruction_set = set}).allFinite()) << size << ' ' << name(set);
    }
  }
}

/// Root mean square error of float attention over values between 0 and 1, nearly all keys alike: what is left
/// is the error of two long sums.
double error_of_sums(Index length, InstructionSet set) {
  const Matrix<float> query = 0.1f * random(48, 16, 1).cast<float>(),
                      key = random(length, 16, 2).cast<float>(),
                      value = random(length, 16, 3).cast<float>().cwiseAbs();
  const Matrix<double> weights =
      (query.cast<double>() * key.cast<double>().transpose()).array().exp().matrix();
  const Matrix<double> expected =
      (weights * value.cast<double>()).array().colwise() / weights.rowwise().sum().array();
  const Matrix<float> output =
      attend(query, key, value, {.scale = 1.0, .query_offset = 0, .instruction_set = set});
  return std::sqrt((output.cast<double>() - expected).squaredNorm() / double(expected.size()));
}

TEST(Accuracy, LongSumsAreNoWorseThanShortOnes) {
  for (InstructionSet set : check::instruction_sets())
    EXPECT_LT(error_of_sums(16384, set), 1.5 * error_of_sums(256, set)) << name(set);
}

}  // namespace
}  // namespace headwise::accuracy_test
