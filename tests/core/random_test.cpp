#include <headwise/core/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace headwise::random_test {
namespace {

using Words = std::array<std::uint32_t, 4>;

// The three published vectors of Random123's kat_vectors, "philox4x32 10".
TEST(Philox, ReproducesThePublishedKnownAnswers) {
  constexpr std::uint32_t ones = 0xffffffffu;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, WorksWhileCompiling) {
  static_assert(philox({0, 0, 0, 0}, {0, 0})[0] == 0x6627e8d5u);
  SUCCEED();
}

TEST(Philox, TakesAllBitsOfTheSeedAsItsKey) {
  EXPECT_EQ(philox_key(0x299f31d0a4093822u), (std::array<std::uint32_t, 2>{0xa4093822u, 0x299f31d0u}));
}

// One flipped bit of counter or key changes about half of the 128 bits: 64 on average, standard
// deviation 5.7.
TEST(Philox, ChangesAboutHalfOfItsBitsWithOneBitOfInput) {
  const auto distance = [](const Words& a, const Words& b) {
    int bits = 0;
    for (std::size_t i = 0; i < 4; ++i) bits += std::popcount(a[i] ^ b[i]);
    return bits;
  };
  const Words base = philox({1, 2, 3, 4}, {5, 6});
  int total = 0;
  for (std::size_t bit = 0; bit < 128; ++bit) {
    Words counter{1, 2, 3, 4};
    counter[bit / 32] ^= 1u << (bit % 32);
    total += distance(base, philox(counter, {5, 6}));
  }
  for (std::size_t bit = 0; bit < 64; ++bit) {
    std::array<std::uint32_t, 2> key{5, 6};
    key[bit / 32] ^= 1u << (bit % 32);
    total += distance(base, philox({1, 2, 3, 4}, key));
  }
  EXPECT_NEAR(total / 192.0, 64.0, 5 * 5.7 / std::sqrt(192.0));
}

// Computed with a big-integer Philox in another language.
TEST(Rng, StreamsTheCountersFromZeroUnderItsSeed) {
  Rng one(1);
  for (std::uint32_t word : {0xe3e80670u, 0xe50a0ebcu, 0x95f222c0u, 0xb615aa27u, 0xac08141bu, 0xdfc5ccbeu,
                             0x79c07a47u, 0xa7f66093u, 0x3f55b3f0u, 0x8e76cc9du, 0xb68faa8eu, 0xebed3676u}) {
    EXPECT_EQ(one.word(), word);
  }
  Rng beyond_32_bits((std::uint64_t(1) << 40) + 7);
  for (std::uint32_t word : {0x33f7def9u, 0xf4ef4e99u, 0x0b7c2523u, 0x9daecf53u, 0x5e025d46u}) {
    EXPECT_EQ(beyond_32_bits.word(), word);
  }
}

TEST(Rng, MakesUnitsOf53BitsAndNormalsByBoxAndMuller) {
  Rng units(1);
  for (double unit :
       {0x1.c7d00cf94283ap-1, 0x1.2be445ad856a8p-1, 0x1.58102837f1732p-1, 0x1.e701e953fb304p-2}) {
    EXPECT_EQ(units.unit(), unit);
  }
  Rng normals(1);
  for (double x : {-1.8045566655837295, -1.475619250545846, -0.17310520351395506}) {
    EXPECT_NEAR(normals.gaussian(), x, 1e-15);
  }
}

TEST(Rng, GivesTheSameNumbersForTheSameSeedAndOthersForAnother) {
  Rng a(42), b(42), c(43);
  const Matrix<double> x = normal(7, 9, 1.0, a), y = normal(7, 9, 1.0, b), z = normal(7, 9, 1.0, c);
  EXPECT_EQ(x, y);
  EXPECT_NE(x, z);
}

TEST(Rng, GoesOnFromACopyAsFromTheOriginal) {
  Rng original(3);
  for (int i = 0; i < 5; ++i) (void)original.word();  // in the middle of a block of four words
  Rng copy = original;
  for (int i = 0; i < 9; ++i) EXPECT_EQ(copy.word(), original.word());
}

// n draws of a standard normal: mean, variance and fourth moment have standard errors 1, sqrt(2), sqrt(96)
// over sqrt(n).
TEST(Rng, HasTheMomentsOfANormal) {
  constexpr int n = 200'000;
  Rng rng(11);
  double mean = 0, square = 0, fourth = 0;
  for (int i = 0; i < n; ++i) {
    const double x = rng.gaussian();
    mean += x / n;
    square += x * x / n;
    fourth += x * x * x * x / n;
  }
  EXPECT_NEAR(mean, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(square, 1, 5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(fourth, 3, 5 * std::sqrt(96.0 / n));
}

TEST(Rng, HasTheMomentsOfAUniform) {
  constexpr int n = 200'000;
  Rng rng(12);
  double mean = 0, square = 0, lowest = 1, highest = 0;
  for (int i = 0; i < n; ++i) {
    const double x = rng.unit();
    mean += x / n;
    square += (x - 0.5) * (x - 0.5) / n;
    lowest = std::min(lowest, x);
    highest = std::max(highest, x);
  }
  EXPECT_NEAR(mean, 0.5, 5 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(square, 1.0 / 12, 5 * std::sqrt(1.0 / 180 / n));
  EXPECT_GE(lowest, 0);
  EXPECT_LT(highest, 1);
  EXPECT_LT(lowest, 1e-3);
  EXPECT_GT(highest, 1 - 1e-3);
}

TEST(Rng, DrawsEachOfNNumbersEquallyOften) {
  constexpr int n = 7, draws = 70'000;
  Rng rng(13);
  std::vector<int> count(n, 0);
  for (int i = 0; i < draws; ++i) ++count.at(std::size_t(rng.below(n)));
  for (int c : count) EXPECT_NEAR(c, draws / n, 5 * std::sqrt(draws / double(n)));
}

TEST(Rng, StaysBelowNAtItsLimits) {
  Rng rng(14);
  constexpr Index largest = std::numeric_limits<Index>::max();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(rng.below(1), 0);
    const Index x = rng.below(largest);
    EXPECT_GE(x, 0);
    EXPECT_LT(x, largest);
  }
}

template <class F>
std::string message_of(F&& f) {
  try {
    f();
    return "accepted";
  } catch (const ShapeError& error) {
    return error.what();
  }
}

TEST(Rng, NamesWhatItCannotDraw) {
  Rng rng(1);
  EXPECT_EQ(message_of([&] { (void)rng.below(0); }), "Rng: n is 0, expected a positive number");
  EXPECT_EQ(message_of([&] { (void)rng.below(-2); }), "Rng: n is -2, expected a positive number");
  EXPECT_EQ(message_of([&] { (void)normal(-1, 2, 1.0, rng); }), "normal: rows is -1, expected zero or more");
  EXPECT_EQ(message_of([&] { (void)normal(1, -2, 1.0, rng); }), "normal: cols is -2, expected zero or more");
  EXPECT_EQ(message_of([&] { (void)uniform(-1, 2, 0.0, 1.0, rng); }),
            "uniform: rows is -1, expected zero or more");
  EXPECT_EQ(message_of([&] { (void)uniform(1, -2, 0.0, 1.0, rng); }),
            "uniform: cols is -2, expected zero or more");
  EXPECT_EQ(rng.word(), Rng(1).word()) << "a refused call draws nothing";
}

TEST(Normal, FillsRowByRowFromTheStream) {
  Rng rng(5), stream(5);
  const Matrix<double> x = normal(3, 4, 0.5, rng);
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 4; ++j) EXPECT_EQ(x(i, j), 0.5 * stream.gaussian());
}

TEST(Normal, HasTheSameShapeOfNoiseInEveryScalar) {
  Rng f(5), d(5), l(5), c(5);
  const auto as_float = normal(5, 3, 2.0f, f);
  const auto as_double = normal(5, 3, 2.0, d);
  const auto as_long = normal(5, 3, 2.0L, l);
  const auto as_complex = normal(5, 3, std::complex<double>(2.0), c);
  static_assert(std::is_same_v<decltype(as_float), const Matrix<float>>);
  EXPECT_LE((as_float.cast<double>() - as_double).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_EQ(as_long.cast<double>(), as_double);
  EXPECT_EQ(as_complex.real(), as_double);
}

TEST(Normal, AllowsMatricesWithoutRowsOrColumns) {
  Rng rng(1);
  EXPECT_EQ(normal(0, 5, 1.0, rng).cols(), 5);
  EXPECT_EQ(normal(5, 0, 1.0, rng).rows(), 5);
  EXPECT_EQ(rng.word(), Rng(1).word());
}

TEST(Uniform, StaysInItsHalfOpenRange) {
  Rng rng(6);
  const auto x = uniform(100, 100, -2.0, 3.0, rng);
  EXPECT_GE(x.minCoeff(), -2.0);
  EXPECT_LT(x.minCoeff(), -1.99);
  EXPECT_LT(x.maxCoeff(), 3.0);
  EXPECT_GT(x.maxCoeff(), 2.99);
  EXPECT_NEAR(x.mean(), 0.5, 5 * std::sqrt(25.0 / 12 / 10'000));
}

// The first number of this seed is 1 - 1.8e-8, which rounds to 1 in float.
TEST(Uniform, ExcludesItsUpperEndInFloat) {
  Rng rng(16390493), same(16390493), narrow(16390493);
  ASSERT_EQ(float(same.unit()), 1.0f);
  EXPECT_EQ(uniform(1, 1, 0.0f, 1.0f, rng)(0, 0), std::nextafter(1.0f, 0.0f));
  const float above_one = std::nextafter(1.0f, 2.0f);
  EXPECT_EQ(uniform(1, 1, 1.0f, above_one, narrow)(0, 0), 1.0f) << "the only float in [1, above_one)";
}

TEST(Uniform, IsConstantOnAnEmptyRange) {
  Rng rng(7);
  EXPECT_EQ(uniform(4, 4, 1.5f, 1.5f, rng), Matrix<float>::Constant(4, 4, 1.5f));
}

}  // namespace
}  // namespace headwise::random_test
