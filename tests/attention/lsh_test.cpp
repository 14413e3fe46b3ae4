#include <headwise/attention/lsh.hpp>
#include <headwise/mask/causal.hpp>

#include <gtest/gtest.h>

#include "attention/lsh_reference.hpp"
#include "support/check.hpp"

namespace headwise {
namespace {

using check::near;

TEST(AttendLsh, LooksAtTheChunksThatAHashPutsTogether) {
  namespace hw = headwise;
  hw::Rng rng(1);
  const auto query = hw::normal(100, 16, 1.0f, rng), value = hw::normal(100, 8, 1.0f, rng);
  // [docs attention/lsh]
  const auto rotations = hw::lsh_rotations<float>(
      {.factors = hw::lsh_factors(100, 16), .rounds = 2, .heads = 2, .head_dim = 8, .seed = 1});
  const hw::LshBuckets buckets = hw::lsh_buckets(query, rotations);
  const hw::Matrix<float> y =
      hw::attend_lsh(query, value, buckets, {.chunk_len = 16}, {.heads = 2}, hw::mask::Causal{}).output;
  // [docs end]
  const Matrix<double> q = query.cast<double>(), v = value.cast<double>();
  for (Index head = 0; head < 2; ++head) {
    reference::Lsh lsh{{.chunk_len = 16}, {}, [](Index i, Index j) { return j <= i; }};
    for (Index round = 0; round < 2; ++round)
      lsh.buckets.emplace_back(buckets.of(head, round).begin(), buckets.of(head, round).end());
    const auto expected =
        reference::lsh_attention(q.middleCols(head * 8, 8), v.middleCols(head * 4, 4), lsh).output;
    EXPECT_TRUE(near(y.middleCols(head * 4, 4), expected, 1e-5));
  }
}

/// The weights of two rounds that hold nobody else must add up to one, in float as well.
TEST(AttendLsh, ATokenThatIsAloneInEveryRoundKeepsItsValueInFloat) {
  Rng rng(1);
  const Matrix<float> query = normal(6, 4, 1.0f, rng), value = normal(6, 3, 1.0f, rng);
  const LshBuckets apart{6, 1, 2, {0, 1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 0}};
  const auto got =
      attend_lsh(query, value, apart, {.chunk_len = 2, .reach = LshReach::bucket}, {}, mask::Causal{});
  EXPECT_TRUE(near(got.output, value, 0));
}

}  // namespace
}  // namespace headwise
