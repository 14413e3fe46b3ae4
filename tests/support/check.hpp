#pragma once

#include <headwise/core/random.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

/// What tests say about matrices.
namespace headwise::check {

inline Matrix<double> random(Index rows, Index cols, std::uint64_t seed) {
  Rng rng(seed);
  return normal(rows, cols, 1.0, rng);
}

/// |got - expected| <= abs + rel |expected| everywhere; infinities must be equal, a NaN never passes.
template <class A, class B>
testing::AssertionResult near(const A& got, const B& expected, double abs, double rel = 0.0) {
  if (got.rows() != expected.rows() || got.cols() != expected.cols()) {
    return testing::AssertionFailure() << "shape " << got.rows() << " x " << got.cols() << ", expected "
                                       << expected.rows() << " x " << expected.cols();
  }
  double worst = -1;
  Index row = 0, col = 0;
  for (Index i = 0; i < got.rows(); ++i) {
    for (Index j = 0; j < got.cols(); ++j) {
      const double x = double(got(i, j)), e = double(expected(i, j));
      if (x == e) continue;
      const double excess = std::abs(x - e) - (abs + rel * std::abs(e));
      const bool bad = !(excess <= 0);
      if (bad && (std::isnan(excess) || excess > worst)) {
        worst = std::isnan(excess) ? std::numeric_limits<double>::infinity() : excess;
        row = i;
        col = j;
      }
    }
  }
  if (worst < 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "at (" << row << ", " << col << "): " << double(got(row, col))
                                     << ", expected " << double(expected(row, col)) << ", tolerance "
                                     << abs + rel * std::abs(double(expected(row, col)));
}

}  // namespace headwise::check
