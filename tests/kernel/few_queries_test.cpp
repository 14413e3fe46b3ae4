#include <headwise/attention/attend.hpp>
#include <headwise/core/thread_pool.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/sliding_window.hpp>
#include <headwise/score/alibi.hpp>
#include <headwise/score/sink.hpp>

#include <gtest/gtest.h>

#include "support/any_mask.hpp"
#include "support/check.hpp"

#include <limits>
#include <vector>

namespace headwise {
namespace {

using check::AnyMask;
using check::near;
using check::random;

/// The same call by the fused kernel, which other tests hold against plain loops: a call with a plan is never
/// taken for one of few queries.
template <class Mask = mask::None, class Score = score::None>
Attended<double> by_tiles(const Matrix<double>& query, const Matrix<double>& key, const Matrix<double>& value,
                          const AttendOptions& options, const Mask& mask = {}, const Score& score = {}) {
  const RaggedRows queries = options.query_rows.over(query.rows(), "query"),
                   keys = options.key_rows.over(key.rows(), "key");
  Plans plans;
  plans.sequences = queries.sequences();
  for (Index s = 0; s < plans.sequences; ++s)
    plans.plans.push_back(Plan::dense(queries[s].size(), keys[s].size()));
  return attend_over(plans, query, key, value, options, mask, score);
}

template <class Mask, class Score>
void expect_same(Index q_len, Index k_len, const AttendOptions& options, const Mask& mask,
                 const Score& score) {
  const Index kv_heads = options.kv_heads == 0 ? options.heads : options.kv_heads;
  for (const Index dim : {1, 7, 16, 65}) {
    const auto query = random(q_len, options.heads * dim, 1), key = random(k_len, kv_heads * dim, 2);
    const auto value = random(k_len, kv_heads * (dim + 1), 3);
    const auto got = attend_with_lse(query, key, value, options, mask, score);
    const auto expected = by_tiles(query, key, value, options, mask, score);
    EXPECT_TRUE(near(got.output, expected.output, 1e-13)) << q_len << " " << k_len << " " << dim;
    EXPECT_TRUE(near(got.lse, expected.lse, 1e-12)) << q_len << " " << k_len << " " << dim;
  }
}

TEST(FewQueries, IsAttention) {
  for (const Index k_len : {1, 2, 63, 64, 65}) {
    for (const Index q_len : {1, 3}) {
      if (q_len > k_len) continue;
      const AttendOptions options{.heads = 6, .kv_heads = 2, .query_offset = align_last};
      expect_same(q_len, k_len, options, mask::Causal{}, score::None{});
      expect_same(q_len, k_len, options, mask::SlidingWindow{.width = 5}, score::Alibi(6));
    }
  }
}

TEST(FewQueries, IsAttentionOverRaggedTextsAndAnyMask) {
  const RaggedRows queries = RaggedRows::from_lengths({1, 0, 2, 1}),
                   keys = RaggedRows::from_lengths({5, 3, 2, 40});
  const AttendOptions options{
      .heads = 5, .query_offset = align_last, .query_rows = queries, .key_rows = keys};
  const AnyMask mask = [](Index q, Index k) { return k <= q && (q + k) % 3 != 0; };
  expect_same(4, 50, options, mask, score::None{});
  std::vector<Position> at{4, 0, 1, 39}, of;
  for (Index s = 0; s < 4; ++s)
    for (Index i = 0; i < keys[s].size(); ++i) of.push_back(Position(i));
  expect_same(
      4, 50,
      {.heads = 5, .query_positions = at, .key_positions = of, .query_rows = queries, .key_rows = keys},
      mask::Causal{}, score::None{});
}

TEST(FewQueries, AgreesInFloat) {
  const auto query = random(1, 6 * 40, 1), key = random(65, 2 * 40, 2), value = random(65, 2 * 33, 3);
  const AttendOptions options{.heads = 6, .kv_heads = 2, .query_offset = align_last};
  const auto got =
      attend_with_lse(query.cast<float>(), key.cast<float>(), value.cast<float>(), options, mask::Causal{});
  EXPECT_TRUE(near(got.output, by_tiles(query, key, value, options, mask::Causal{}).output, 1e-5));
}

TEST(FewQueries, KnowsSinks) {
  const score::Sink sink(random(4, 1, 9));
  const auto query = random(1, 12, 1), key = random(9, 12, 2), value = random(9, 12, 3);
  const AttendOptions options{.heads = 4};
  const auto got = attend_with_lse(query, key, value, options, mask::None{}, sink);
  const auto expected = by_tiles(query, key, value, options, mask::None{}, sink);
  EXPECT_TRUE(near(got.output, expected.output, 1e-13));
  EXPECT_TRUE(near(got.lse, expected.lse, 1e-13));
}

TEST(FewQueries, HiddenNumbersAreNeverMultiplied) {
  auto key = random(4, 8, 1), value = random(4, 8, 2);
  key.row(2).setConstant(std::numeric_limits<double>::quiet_NaN());
  value.row(2).setConstant(std::numeric_limits<double>::infinity());
  const AnyMask mask = [](Index, Index k) { return k != 2; };
  const auto query = random(1, 8, 3);
  Matrix<double> fewer_keys(3, 8), fewer_values(3, 8);
  fewer_keys << key.row(0), key.row(1), key.row(3);
  fewer_values << value.row(0), value.row(1), value.row(3);
  EXPECT_TRUE(near(attend_with_lse(query, key, value, {.heads = 2, .query_offset = 0}, mask).output,
                   by_tiles(query, fewer_keys, fewer_values, {.heads = 2}).output, 1e-14));
}

TEST(FewQueries, AQueryThatSeesNothingIsZero) {
  const auto got = attend_with_lse(random(2, 8, 1), random(5, 8, 2), random(5, 8, 3),
                                   {.heads = 2, .query_offset = 0}, mask::SlidingWindow{.width = 0});
  EXPECT_EQ(got.output, (Matrix<double>::Zero(2, 8)));
  EXPECT_EQ(got.lse(1, 1), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(attend_with_lse(random(2, 8, 1), random(0, 8, 2), random(0, 8, 3), {.heads = 2}).output,
            (Matrix<double>::Zero(2, 8)));
}

TEST(FewQueries, TakeKeysOfAnyLayout) {
  const auto query = random(1, 8, 1), key = random(9, 8, 2), value = random(9, 8, 3);
  const Eigen::MatrixXd columns = key;  // column-major
  const AttendOptions options{.heads = 2, .query_offset = align_last};
  EXPECT_TRUE(near(attend(query, columns, value, options, mask::Causal{}),
                   by_tiles(query, key, value, options, mask::Causal{}).output, 1e-14));
}

TEST(FewQueries, OverSeveralPartsAgreeAndHaveTheSameBitsForAnyNumberOfThreads) {
  const auto query = random(2, 4 * 9, 1), key = random(4500, 2 * 9, 2), value = random(4500, 2 * 5, 3);
  AttendOptions options{.heads = 4, .kv_heads = 2, .query_offset = align_last};
  const auto serial = attend_with_lse(query, key, value, options, mask::Causal{}, score::Alibi(4));
  const auto expected = by_tiles(query, key, value, options, mask::Causal{}, score::Alibi(4));
  EXPECT_TRUE(near(serial.output, expected.output, 1e-13));
  EXPECT_TRUE(near(serial.lse, expected.lse, 1e-13));
  for (int threads : {2, 3, 8}) {
    ThreadPool pool(threads);
    options.executor = pool.executor();
    const auto shared = attend_with_lse(query, key, value, options, mask::Causal{}, score::Alibi(4));
    EXPECT_EQ(shared.output, serial.output) << threads << " threads";
    EXPECT_EQ(shared.lse, serial.lse) << threads << " threads";
  }
}

}  // namespace
}  // namespace headwise
