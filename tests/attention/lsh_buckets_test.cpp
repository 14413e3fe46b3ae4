#include <headwise/attention/explain.hpp>
#include <headwise/attention/lsh_chunks.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/thrown.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace headwise {
namespace {

using check::near;
using check::random;

/// Pairs of a call: rounds (n m (before + 1 + after) - m^2 without a wrap - n), of 2 (head_dim + value_dim)
/// FLOPs each.
TEST(LshChunks, CostWhatTheFormulaSays) {
  for (const Index chunk : {4, 16}) {
    const Index length = 64, rounds = 3, dim = 8;
    const RaggedRows rows = RaggedRows::from_lengths({length});
    for (const bool wrapped : {false, true}) {
      const LshChunks chunks(
          {.chunk_len = chunk,
           .wrap = wrapped ? LshWrap::round : LshWrap::none,
           .repeats = LshRepeats::counted},
          LshBuckets{length, 1, rounds, std::vector<std::int32_t>(std::size_t(length * rounds))}, rows);
      Index pairs = 0;
      double flops = 0;
      for (Index round = 0; round < rounds; ++round) {
        const Plans plans = chunks.plans(round);
        const Explanation e = explain<double>({.q_len = length, .k_len = length, .head_dim = dim}, {},
                                              chunks.pairs(round), &plans);
        pairs += e.pairs;
        flops += e.forward_flops;
      }
      EXPECT_EQ(pairs, rounds * (length * 2 * chunk - (wrapped ? 0 : chunk * chunk) - length));
      EXPECT_EQ(flops, 4.0 * double(dim * pairs));
    }
  }
}

/// Bits against the question to the tables, for every pair of every plan.
TEST(LshChunks, StoredPairsAreThePairs) {
  Rng rng(3);
  for (const Index length : {1, 2, 3, 4, 5, 12, 33, 63, 64, 65, 70}) {
    for (const LshWrap wrap : {LshWrap::none, LshWrap::round}) {
      for (const auto& [chunk, before, after] :
           {std::array<Index, 3>{4, 1, 0}, {3, 1, 1}, {16, 2, 3}, {33, 0, 0}}) {
        LshBuckets buckets{length, 1, 3, {}};
        for (Index i = 0; i < 3 * length; ++i) buckets.numbers.push_back(std::int32_t(rng.below(6)) - 3);
        const LshChunks chunks(
            {.chunk_len = chunk, .chunks_before = before, .chunks_after = after, .wrap = wrap}, buckets,
            RaggedRows::from_lengths({length}));
        ASSERT_FALSE(chunks.has_stored_pairs(0));
        for (const Index round : {1, 2}) {
          ASSERT_TRUE(chunks.has_stored_pairs(round));
          const auto stored = chunks.stored_pairs(round).bind({});
          const auto asked = chunks.pairs(round).bind({});
          const Plans plans = chunks.plans(round);
          for (const PlanItem& item : plans.at(0, 0).items) {
            for (Index i = 0; i < item.queries.size(); ++i) {
              for (Index j = 0; j < item.keys.size(); ++j) {
                const Index q = item.queries[i], k = item.keys[j];
                ASSERT_EQ(stored.allows({Position(q), Position(q)}, {Position(k), Position(k)}),
                          asked.allows(q, k))
                    << length << " tokens, round " << round << ", pair " << q << ", " << k;
              }
            }
          }
        }
      }
    }
  }
}

/// As the published program counts: the bits of a number, and the square root as a double.
std::vector<Index> factors_by_bits(Index length, Index chunk, Index longest) {
  Index bits = 0;
  for (Index rest = 2 * std::max<Index>(1, length / chunk); rest > 0; rest /= 2) ++bits;
  const Index power = bits - 1;
  const double limit = 2 * std::max(std::floor(std::sqrt(double(longest / chunk))), double(chunk));
  if (std::pow(2.0, double(power)) <= limit) return {Index(std::pow(2.0, double(power)))};
  const Index first = power / 2;
  return {Index(std::pow(2.0, double(first))), Index(std::pow(2.0, double(power - first)))};
}

TEST(LshFactors, OfTwoAreThoseOfThePublishedProgram) {
  for (const Index chunk : {1, 2, 3, 4, 7, 16, 64}) {
    for (const Index longest : {0, 63, 64, 65, 256, 4096, 524288}) {
      for (const Index length : {0, 1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 127, 128, 129, 1000, 65536})
        EXPECT_EQ(lsh_factors_of_two(length, chunk, longest), factors_by_bits(length, chunk, longest))
            << length << ", " << chunk << ", " << longest;
    }
  }
  EXPECT_EQ(lsh_factors_of_two(65536, 64, 65536), (std::vector<Index>{32, 64}));
  EXPECT_EQ(lsh_factors_of_two(24, 4, 24), (std::vector<Index>{8}));
  EXPECT_EQ(lsh_factors_of_two(64, 4, 64), (std::vector<Index>{4, 8}));
  EXPECT_EQ(lsh_factors_of_two(64, 4, 1024), (std::vector<Index>{32}));
  EXPECT_EQ(check::thrown<ShapeError>([] { (void)lsh_factors_of_two(8, 0); }),
            "lsh_factors_of_two: chunk_len is 0, expected a positive number");
}

/// The hash of one row by plain loops: the largest signed axis of every factor.
std::int32_t bucket_of_row(const Matrix<double>& x, Index row, Index head, Index round, Index dim,
                           const LshRotations<double>& rotations) {
  Index width = 0, bucket = 0, radix = 1, first = 0;
  for (const Index factor : rotations.factors) width += factor / 2;
  for (const Index factor : rotations.factors) {
    Index best = -1;
    double largest = 0;
    for (Index axis = 0; axis < factor; ++axis) {
      double along = 0;
      for (Index i = 0; i < dim; ++i)
        along += x(row, head * dim + i) *
                 rotations.values(head * dim + i, round * width + first + axis % (factor / 2));
      if (axis >= factor / 2) along = -along;
      if (best < 0 || along > largest) {
        best = axis;
        largest = along;
      }
    }
    bucket += radix * best;
    radix *= factor;
    first += factor / 2;
  }
  return std::int32_t(bucket);
}

TEST(LshBuckets, ByLengthEveryTextIsHashedForItself) {
  const Index heads = 2, dim = 3, rounds = 2;
  const std::vector<Index> lengths{1, 0, 24, 3, 64, 65};
  const RaggedRows rows = RaggedRows::from_lengths(lengths);
  const auto x = random(rows.rows(), heads * dim, 7);
  const LshHashByLength hash{
      {.rounds = rounds, .heads = heads, .head_dim = dim, .seed = 8, .layer = 1}, 4, 64};
  const LshBuckets got = lsh_buckets(x, hash, rows);
  ASSERT_EQ(got.numbers.size(), std::size_t(heads * rounds * rows.rows()));
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    LshHashOptions draw = hash.draw;
    draw.factors = factors_by_bits(lengths[s], hash.chunk_len, hash.max_seq_len);
    const auto rotations = lsh_rotations<double>(draw);
    for (Index row = rows[Index(s)].begin; row < rows[Index(s)].end; ++row)
      for (Index head = 0; head < heads; ++head)
        for (Index round = 0; round < rounds; ++round)
          ASSERT_EQ(got.of(head, round)[std::size_t(row)], bucket_of_row(x, row, head, round, dim, rotations))
              << s << ", " << row << ", " << head << ", " << round;
  }
  EXPECT_EQ(check::thrown<ShapeError>([&] { (void)lsh_buckets(random(5, 5, 1), hash); }),
            "lsh_buckets: columns of x is 5, expected 6; heads * head_dim");
}

TEST(LshBuckets, OppositeVectorsHaveOppositeBucketsOfAnyLength) {
  const auto x = random(50, 6, 3);
  const auto rotations = lsh_rotations<double>({.factors = {8}, .rounds = 2, .head_dim = 6, .seed = 4});
  const LshBuckets plus = lsh_buckets(x, rotations), minus = lsh_buckets(-3.0 * x, rotations);
  for (std::size_t i = 0; i < plus.numbers.size(); ++i)
    EXPECT_EQ(minus.numbers[i], (plus.numbers[i] + 4) % 8);
}

/// The share of pairs with a given cosine that fall into one of 8 buckets, in 16 dimensions.
TEST(LshBuckets, NearVectorsCollideAsOftenAsTheAngleSays) {
  const Index draws = 4000;
  const auto rotations = lsh_rotations<double>({.factors = {8}, .rounds = draws, .head_dim = 16, .seed = 9});
  for (const auto& [cosine, expected] : {std::pair{0.99, 0.891}, {0.9, 0.659}, {0.7, 0.442}, {0.0, 0.129}}) {
    Matrix<double> x = Matrix<double>::Zero(2, 16);
    x(0, 0) = 1;
    x(1, 0) = cosine;
    x(1, 1) = std::sqrt(1 - cosine * cosine);
    const LshBuckets buckets = lsh_buckets(x, rotations);
    Index same = 0;
    for (Index round = 0; round < draws; ++round)
      same += buckets.of(0, round)[0] == buckets.of(0, round)[1] ? 1 : 0;
    const double deviation = std::sqrt(expected * (1 - expected) / double(draws));
    EXPECT_NEAR(double(same) / double(draws), expected, 4 * deviation + 0.004) << cosine;
  }
}

TEST(LshBuckets, RotationsBelongToTheirPlace) {
  const auto small = lsh_rotations<double>({.factors = {4, 6}, .rounds = 1, .head_dim = 3, .seed = 5});
  const auto large =
      lsh_rotations<double>({.factors = {4, 6}, .rounds = 2, .heads = 2, .head_dim = 3, .seed = 5});
  EXPECT_TRUE(near(large.values.topLeftCorner(3, 5), small.values, 0));
  const auto other = lsh_rotations<double>({.factors = {4, 6}, .rounds = 1, .head_dim = 3, .seed = 6});
  EXPECT_GT((other.values - small.values).norm(), 0.1);
}

TEST(LshBuckets, FactorsAreTwiceTheChunks) {
  EXPECT_EQ(lsh_factors(64, 16), (std::vector<Index>{8}));
  EXPECT_EQ(lsh_factors(5, 16), (std::vector<Index>{2}));
  EXPECT_EQ(lsh_factors(4096, 64), (std::vector<Index>{128}));
  EXPECT_EQ(lsh_factors(65536, 256), (std::vector<Index>{32, 16}));
}

}  // namespace
}  // namespace headwise
