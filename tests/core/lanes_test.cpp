#include <headwise/core/lanes.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

namespace headwise {
namespace {

template <class Scalar>
std::vector<Scalar> numbers(Index count) {
  std::vector<Scalar> all;
  for (Index i = 0; i < count; ++i) all.push_back(Scalar(0.01) * Scalar(double(i % 200) - 100));
  return all;
}

template <class Scalar>
void check_lengths() {
  for (Index count : {0, 1, 31, 32, 33, 64, 100}) {
    std::vector<Scalar> x = numbers<Scalar>(count + 1);
    const std::vector<Scalar> before = x, y = numbers<Scalar>(count);
    transform_lanes(x.data(), count, [](Scalar v) { return v * v + Scalar(1); });
    for (Index i = 0; i < count; ++i)
      EXPECT_EQ(x[std::size_t(i)], before[std::size_t(i)] * before[std::size_t(i)] + Scalar(1))
          << i << " of " << count;
    EXPECT_EQ(x.back(), before.back()) << "what is past the end stays";

    combine_lanes(x.data(), y.data(), count, [](Scalar a, Scalar b) { return a - b; });
    for (Index i = 0; i < count; ++i) {
      const Scalar v = before[std::size_t(i)];
      EXPECT_EQ(x[std::size_t(i)], v * v + Scalar(1) - y[std::size_t(i)]) << i << " of " << count;
    }
  }
}

TEST(Lanes, TouchEveryNumberOnceAndNoneBeyond) {
  check_lengths<long double>();
  check_lengths<std::complex<double>>();
}

TEST(Lanes, ComputeWhatTheFunctionComputes) {
  for (Index count : {1, 32, 77}) {
    std::vector<float> x = numbers<float>(count), y = x;
    transform_lanes(x.data(), count, [](float v) { return math::exp(v); });
    combine_lanes(y.data(), numbers<float>(count).data(), count,
                  [](float a, float b) { return a + math::tanh(b); });
    const std::vector<float> before = numbers<float>(count);
    for (Index i = 0; i < count; ++i) {
      const double v = double(before[std::size_t(i)]);
      EXPECT_NEAR(double(x[std::size_t(i)]), std::exp(v), 1e-6 * std::exp(v));
      EXPECT_NEAR(double(y[std::size_t(i)]), v + std::tanh(v), 1e-6);
    }
  }
}

}  // namespace
}  // namespace headwise
