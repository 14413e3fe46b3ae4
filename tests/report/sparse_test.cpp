#include "report/sparse.hpp"

#include <headwise/core/error.hpp>
#include <headwise/core/random.hpp>

#include <gtest/gtest.h>

#include "report/made_up_results.hpp"
#include "report/tables.hpp"

#include <cmath>
#include <cstdlib>
#include <set>
#include <string>

namespace headwise::report {
namespace {

/// Block `to` is seen by block `from` of n: a window, both ends, and three more that are neither.
Index big_bird_blocks(Index from, Index n) {
  if (from == 0 || from == n - 1) return n;
  return Index(std::set<Index>{0, from - 1, from, from + 1, n - 1}.size()) + 3;
}

/// By the definition of each pattern. Where tokens are sorted or chosen first, they are their own ranks here.
bool sees(SparsePattern pattern, Index query, Index key, Index length) {
  const Index root = Index(std::lround(std::sqrt(double(length)))), back = query - key;
  switch (pattern) {
    case SparsePattern::dense:
      return true;
    case SparsePattern::causal:
      return back >= 0;
    case SparsePattern::strided:
      return back >= 0 && (back < root || back % root == 0);
    case SparsePattern::fixed:
      return back >= 0 && (query / root == key / root || key % root == root - 1);
    case SparsePattern::routing: {
      const Index window = length / root, chosen = root * window;
      return query < chosen && key < chosen && back >= 0 && query / window == key / window;
    }
    case SparsePattern::blockwise:
      return key / (length / 4) == (query / (length / 4) + 1) % 4;
    case SparsePattern::longformer:
      return std::abs(back) <= 128 || query < 16 || key < 16;
    case SparsePattern::big_bird:  // as many keys as it sees, wherever they are
      return key < 64 * big_bird_blocks(query / 64, length / 64);
    case SparsePattern::lsh:
      return back != 0 && std::abs(query / 64 - key / 64) <= 1;
  }
  return false;
}

TEST(Sparse, PairsAreWhatADoubleLoopCounts) {
  for (const SparsePattern pattern : sparse_patterns) {
    for (const Index length : {512, 576, 1024, 1536}) {
      Index count = 0;
      for (Index query = 0; query < length; ++query)
        for (Index key = 0; key < length; ++key) count += sees(pattern, query, key, length);
      EXPECT_EQ(pairs(pattern, length), count) << name_of(pattern) << ", " << length << " tokens";
    }
  }
}

TEST(Sparse, TheLibraryCountsTheSamePairsAndAttends) {
  Rng rng(3);
  const auto one = [&] { return normal(Index(576), head_dim, 1.0f, rng); };
  const Operands x{one(), one(), one(), {}};
  for (const SparsePattern pattern : sparse_patterns) {
    const SparseCall call = make_call(pattern, x);
    EXPECT_EQ(call.pairs(), pairs(pattern, 576)) << name_of(pattern);
    EXPECT_TRUE(std::isfinite(call.run())) << name_of(pattern);
  }
}

TEST(Sparse, RefusesALengthWithBrokenBlocks) {
  try {
    (void)pairs(SparsePattern::lsh, 1000);
    FAIL() << "counted the pairs of a length that blocks do not fill";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "pairs: seq_len is 1000, expected a multiple of 64, 512 or more");
  }
}

SparseCurve made_up_curve(SparsePattern pattern, double factor, double exponent) {
  SparseCurve curve;
  curve.pattern = pattern;
  for (const Index length : {1024, 2048, 4096}) {
    const double seconds = factor * std::pow(double(length), exponent);
    curve.samples.push_back({length, {seconds, seconds, 3}, 256.0 * double(pairs(pattern, length))});
  }
  fit(curve);
  return curve;
}

TEST(Sparse, FitsTimePairsAndPromiseOverTheSameLengths) {
  const SparseCurve curve = made_up_curve(SparsePattern::lsh, 1e-6, 1.25);
  ASSERT_TRUE(curve.time_law && curve.work_law && curve.promised_law);
  EXPECT_NEAR(curve.time_law->exponent, 1.25, 1e-12);
  // Chunks see themselves and two neighbours, those at the ends one less, and no token itself:
  // (3 * 16 - 2) * 64^2 - 1024 = 45.75 * 64^2 pairs of 1,024 tokens, 189 * 64^2 of 4,096.
  EXPECT_NEAR(curve.work_law->exponent, std::log(189 / 45.75) / std::log(4.0), 1e-12);
  // log(4096 log 4096 / (1024 log 1024)) / log 4, the middle of three equal steps does not move the slope
  EXPECT_NEAR(curve.promised_law->exponent, 1 + std::log(1.2) / std::log(4.0), 1e-12);
  SparseCurve two = curve;
  two.samples.pop_back();
  two.time_law.reset();
  fit(two);
  EXPECT_FALSE(two.time_law.has_value()) << "two points are no law";
}

TEST(Sparse, BreaksEvenWhereItIsFirstFaster) {
  // Dense takes 1, 4, 16 ms; Longformer 3, 6, 12 ms.
  const std::vector<SparseCurve> curves{made_up_curve(SparsePattern::dense, 1e-3 / (1024.0 * 1024), 2),
                                        made_up_curve(SparsePattern::longformer, 3e-3 / 1024, 1)};
  EXPECT_EQ(break_even(curves, SparsePattern::longformer), 4096);
  EXPECT_EQ(break_even(curves, SparsePattern::dense), 0) << "never faster than itself";
  EXPECT_EQ(break_even(curves, SparsePattern::strided), 0) << "not measured";
}

TEST(Sparse, TableComparesWithTheFullAttentionOfThePattern) {
  Results results;
  results.sparse = {made_up_curve(SparsePattern::dense, 1e-3 / (1024.0 * 1024), 2),
                    made_up_curve(SparsePattern::longformer, 3e-3 / 1024, 1),
                    made_up_curve(SparsePattern::lsh, 1.0, 1)};
  const Table table = sparse_table(results);
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0][0], "dense");
  EXPECT_EQ(table.rows[0][5], "");
  EXPECT_EQ(table.rows[1][1], "dense");
  EXPECT_EQ(table.rows[1][5], "4,096 tokens");
  EXPECT_TRUE(table.rows[1][6].starts_with("75.0 % (")) << table.rows[1][6];
  EXPECT_EQ(table.rows[2][4], "L log L, here L^1.13");
  EXPECT_EQ(table.rows[2][5], "at no length");
}

}  // namespace
}  // namespace headwise::report
