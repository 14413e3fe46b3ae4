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

template <class Scalar>
void check_update() {
  for (Index count : {0, 1, 31, 32, 33, 100}) {
    std::vector<Scalar> x = numbers<Scalar>(count + 1), y = numbers<Scalar>(count + 1);
    const std::vector<Scalar> before = x, factor = numbers<Scalar>(count);
    update_lanes(
        count,
        [](Scalar& a, Scalar b, Scalar& c) {
          a += b;
          c = a * c;
        },
        x.data(), factor.data(), y.data());
    for (Index i = 0; i < count; ++i) {
      const Scalar v = before[std::size_t(i)];
      EXPECT_EQ(x[std::size_t(i)], v + v) << i << " of " << count;
      EXPECT_EQ(y[std::size_t(i)], (v + v) * v) << i << " of " << count;
    }
    EXPECT_EQ(x.back(), before.back()) << "what is past the end stays";
    EXPECT_EQ(y.back(), before.back()) << "what is past the end stays";
    EXPECT_EQ(factor, numbers<Scalar>(count)) << "what is const is only read";
  }
}

TEST(Lanes, UpdateChangesWhatIsNotConst) {
  check_update<float>();
  check_update<double>();
  check_update<long double>();
  check_update<std::complex<double>>();
}

template <class Scalar>
void check_sums() {
  for (Index count : {0, 1, 31, 32, 33, 63, 64, 65, 1000}) {
    std::vector<Scalar> x, y;  // small whole numbers, whose sums are exact
    Scalar products(0), largest(-1000);
    for (Index i = 0; i < count; ++i) {
      x.push_back(Scalar(double((i * 7) % 11) - 5));
      y.push_back(Scalar(double((i * 5) % 13) - 6));
      products += x.back() * y.back();
      if (std::real(x.back()) > std::real(largest)) largest = x.back();
    }
    EXPECT_EQ(sum_lanes(
                  count, [](Scalar a, Scalar b) { return a * b; }, x.data(), y.data()),
              products)
        << count;
    EXPECT_EQ(reduce_lanes(
                  count, Scalar(-1000), [](Scalar a) { return a; },
                  [](Scalar a, Scalar b) { return std::real(b) > std::real(a) ? b : a; }, x.data()),
              largest)
        << count;
  }
}

TEST(Lanes, ReduceToTheSumAndToTheLargest) {
  check_sums<float>();
  check_sums<double>();
  check_sums<long double>();
  check_sums<std::complex<double>>();
}

TEST(Lanes, SumInLanesThatAreAddedUpByHalves) {
  std::vector<float> x;
  for (Index i = 0; i < 96; ++i) x.push_back(i % 32 == 3 ? 1e8f : 1.0f);
  // Lane 3 holds 3e8, the others 3; added up by halves: 3e8 + 3 is 3e8 again, 3e8 + 6 too, 3e8 + 12 too, then
  // 24, which is above half a step of 32, and 48.
  const float by_halves = (((((3e8f + 3.0f) + 6.0f) + 12.0f) + 24.0f) + 48.0f);
  EXPECT_EQ(sum_lanes(
                96, [](float v) { return v; }, x.data()),
            by_halves);
}

}  // namespace
}  // namespace headwise
