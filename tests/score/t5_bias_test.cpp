#include <headwise/score/t5_bias.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/score_laws.hpp"

#include <limits>
#include <vector>

namespace headwise::score::t5_bias_test {
namespace {

/// Small tables whose last bucket is reached within nine distances.
struct Bidirectional {
  static auto score() { return T5Bias(check::random(8, 4, 3), {.max_distance = 6}); }
};
struct Causal {
  static auto score() {
    return T5Bias(Parameter<double>{check::random(6, 4, 4)},
                  {.direction = T5Direction::causal, .max_distance = 5});
  }
};
using Samples = testing::Types<Bidirectional, Causal>;
INSTANTIATE_TYPED_TEST_SUITE_P(T5Bias, ScoreLaws, Samples);

constexpr T5Options both{}, causal{.direction = T5Direction::causal};

/// The first distance of each bucket.
std::vector<Index> first_distances(Index buckets, const T5Options& options) {
  std::vector<Index> first;
  for (Index distance = 0; distance < 1000; ++distance)
    if (t5_bucket(-distance, buckets, options) == Index(first.size())) first.push_back(distance);
  return first;
}

TEST(T5Bucket, CausalBucketsBeginWhereTheyShould) {
  const std::vector<Index> expected{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                    16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
  EXPECT_EQ(first_distances(32, causal), expected);
}

TEST(T5Bucket, BidirectionalBucketsBeginWhereTheyShould) {
  const std::vector<Index> expected{0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91};
  EXPECT_EQ(first_distances(32, both), expected);
}

TEST(T5Bucket, TheFutureHasTheOtherHalf) {
  EXPECT_EQ(t5_bucket(0, 32, both), 0);
  EXPECT_EQ(t5_bucket(1, 32, both), 17);
  EXPECT_EQ(t5_bucket(-1, 32, both), 1);
  for (Index distance = 1; distance < 300; ++distance)
    EXPECT_EQ(t5_bucket(distance, 32, both), t5_bucket(-distance, 32, both) + 16);
}

TEST(T5Bucket, ACausalFutureIsBucketZero) {
  for (Index distance : {1, 2, 100, 10000}) EXPECT_EQ(t5_bucket(distance, 32, causal), 0);
}

TEST(T5Bucket, FarAwayIsTheLastBucket) {
  EXPECT_EQ(t5_bucket(-128, 32, causal), 31);
  EXPECT_EQ(t5_bucket(-1'000'000'000'000, 32, causal), 31);
  EXPECT_EQ(t5_bucket(1'000'000'000'000, 32, both), 31);
}

/// floor(log) without a logarithm: the largest step with (n / e)^steps >= (max / e)^step, in whole numbers.
Index bucket_in_whole_numbers(Index n, Index side, Index max_distance) {
  const Index e = side / 2, steps = side - e;
  if (n < e) return n;
  __extension__ using Wide = unsigned __int128;
  const auto power = [](Index base, Index exponent) {
    Wide result = 1;
    for (Index i = 0; i < exponent; ++i) result *= Wide(base);
    return result;
  };
  Index step = 0;
  while (step + 1 < steps &&
         power(n, steps) * power(e, step + 1) >= power(max_distance, step + 1) * power(e, steps))
    ++step;
  return e + step;
}

TEST(T5Bucket, LogarithmsInDoubleDecideTiesAsWholeNumbersDo) {
  for (Index max_distance : {20, 32, 64, 100, 128, 256}) {
    for (Index side : {4, 8, 16}) {
      const T5Options options{.direction = T5Direction::causal, .max_distance = max_distance};
      for (Index n = 0; n <= max_distance; ++n) {
        ASSERT_EQ(t5_bucket(-n, side, options), bucket_in_whole_numbers(n, side, max_distance))
            << n << " of " << side << ", " << max_distance;
      }
    }
  }
}

TEST(T5Buckets, AreTheFormulaLookedUp) {
  for (const T5Options& options : {both, causal, T5Options{.max_distance = 50}}) {
    const T5Buckets buckets(20, options);
    for (Index relative = -400; relative <= 400; ++relative)
      ASSERT_EQ(buckets[relative], t5_bucket(relative, 20, options)) << relative;
  }
}

TEST(T5Bias, AddsTheNumberOfTheBucketAndHead) {
  const Matrix<double> table = check::random(32, 4, 1);
  const T5Bias bias(table);
  for (Index head : {0, 3}) {
    const auto bound = bind_score<double>(bias, laws::context(head, 4, 65, 64, 0));
    for (Position q : {0, 1, 63, 64})
      for (Position k : {0, 1, 62, 63})
        EXPECT_EQ(bound(0.5, q, k), 0.5 + table(t5_bucket(k - q, 32, both), head)) << q << ", " << k;
  }
}

TEST(T5Bias, ReadsNothingWhereThereAreNoPairs) {
  const T5Bias bias(check::random(32, 1, 1));
  EXPECT_EQ(bind_score<double>(bias, Context{}).view().last, -1);
}

/// The last of three queries that follow 4096 cached keys: the expanded distances do not start at zero.
TEST(T5Bias, FollowsTheOffsetOfACache) {
  const Matrix<float> table = check::random(32, 1, 1).cast<float>();
  const auto bound = bind_score<float>(T5Bias(table, causal), laws::context(0, 1, 3, 4099, 4096));
  EXPECT_EQ(bound(0.0f, 4098, 4098), table(0, 0));
  EXPECT_EQ(bound(0.0f, 4098, 4097), table(1, 0));
  EXPECT_EQ(bound(0.0f, 4098, 0), table(31, 0));
}

template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(T5Bias, NamesWhatDoesNotFit) {
  EXPECT_EQ(refusal([] { check_score(T5Bias(check::random(32, 4, 1)), laws::context(0, 8, 2, 2, 0)); }),
            "T5Bias: columns of the table is 4, expected 8; the table is [buckets, heads]");
  EXPECT_EQ(refusal([] { T5Bias(check::random(3, 1, 1)); }),
            "T5Bias: buckets (rows of the table) is 3, expected at least 4; the table is [buckets, heads]");
  EXPECT_EQ(refusal([] { T5Bias(check::random(32, 1, 1), {.max_distance = 8}); }),
            "T5Bias: max_distance is 8, expected more than 8; distances below that have a bucket each");
}

}  // namespace
}  // namespace headwise::score::t5_bias_test
