// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/attention/local_chunks.hpp>
#include <headwise/attention/lsh.hpp>
#include <headwise/attention/plans.hpp>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/golden.hpp"
#include "support/lsh_any_mask.hpp"

#include <algorithm>
#include <string>

namespace headwise {
namespace {

/// x W^T, in plain loops.
Matrix<double> projected(const Matrix<double>& x, const Matrix<double>& weight) {
  Matrix<double> y = Matrix<double>::Zero(x.rows(), weight.rows());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < weight.rows(); ++j)
      for (Index c = 0; c < x.cols(); ++c) y(i, j) += x(i, c) * weight(j, c);
  return y;
}

/// [heads, head_dim, rounds, width], with one axis of heads less in one of the sources.
LshRotations<double> rotations_of(const golden::Case& each, std::vector<Index> factors) {
  const golden::Tensor& t = each.tensor("in.rotations");
  const Index heads = t.rank() == 4 ? t.dim(0) : 1, dim = t.dim(-3), rounds = t.dim(-2), width = t.dim(-1);
  LshRotations<double> rotations{heads, rounds, std::move(factors),
                                 Matrix<double>(heads * dim, rounds * width)};
  std::copy(t.values().begin(), t.values().end(), rotations.values.data());
  return rotations;
}

/// Bucket numbers of the sources carry the round: [batch, heads, rounds, length].
void expect_buckets(const golden::Case& each, const LshBuckets& buckets, Index batch, Index per_round) {
  const golden::Tensor& t = each.tensor("out.buckets");
  const Index length = buckets.rows / batch;
  for (Index b = 0; b < batch; ++b)
    for (Index head = 0; head < buckets.heads; ++head)
      for (Index round = 0; round < buckets.rounds; ++round)
        for (Index i = 0; i < length; ++i) {
          const double got =
              double(buckets.of(head, round)[std::size_t(b * length + i)] + std::int32_t(round * per_round));
          const Index at = ((b * buckets.heads + head) * buckets.rounds + round) * length + i;
          EXPECT_EQ(got, t.values()[std::size_t(at)]) << b << ", " << head << ", " << round << ", " << i;
        }
}

/// transformers: chunks go round through all rounds, keys count as often as they are met.
LshOptions options_of(const golden::Case& each) {
  return {.chunk_len = each.integer("chunk_length"),
          .chunks_before = each.integer("chunks_before"),
          .chunks_after = each.integer("chunks_after"),
          .wrap = LshWrap::global,
          .repeats = LshRepeats::counted,
          .epsilon = each.number("norm_eps")};
}

std::vector<Index> factors_of(const nlohmann::json& buckets) {
  if (buckets.is_array()) return buckets.get<std::vector<Index>>();
  return {buckets.get<Index>()};
}

TEST(ReformerLshGolden, BucketsAndOutputsAgree) {
  for (const golden::Case& each : golden::cases("reformer_lsh")) {
    SCOPED_TRACE(each.name());
    const Index batch = each.integer("B"), length = each.integer("L"), heads = each.integer("heads");
    const Matrix<double> x = each.rows("in.x");
    const Matrix<double> query = projected(x, each.rows("param.query_key.weight"));
    const Matrix<double> value = projected(x, each.rows("param.value.weight"));
    const std::vector<Index> factors = factors_of(each.config().at("num_buckets"));
    Index count = 1;
    for (const Index factor : factors) count *= factor;
    LshBuckets buckets = lsh_buckets(query, rotations_of(each, factors));

    // Padding is in a bucket of its own.
    std::vector<bool> real(std::size_t(batch * length), true);
    Index per_round = count;
    if (each.has("in.attention_mask")) {
      const auto numbers = each.integers("in.attention_mask");
      for (std::size_t i = 0; i < real.size(); ++i) real[i] = numbers[i] != 0;
      if (std::find(real.begin(), real.end(), false) != real.end()) ++per_round;
      for (Index head = 0; head < heads; ++head)
        for (Index round = 0; round < buckets.rounds; ++round)
          for (std::size_t i = 0; i < real.size(); ++i)
            if (!real[i]) buckets.of(head, round)[i] = std::int32_t(count);
    }
    expect_buckets(each, buckets, batch, per_round);

    const bool is_causal = each.flag("is_decoder");
    for (Index b = 0; b < batch; ++b) {
      LshBuckets own{length, heads, buckets.rounds, {}};
      for (Index head = 0; head < heads; ++head)
        for (Index round = 0; round < buckets.rounds; ++round) {
          const auto numbers = buckets.of(head, round).subspan(std::size_t(b * length), std::size_t(length));
          own.numbers.insert(own.numbers.end(), numbers.begin(), numbers.end());
        }
      const check::AnyMask mask = [&](Index i, Index j) {
        return real[std::size_t(b * length + j)] && (!is_causal || j <= i);
      };
      const Matrix<double> got =
          attend_lsh(query.middleRows(b * length, length), value.middleRows(b * length, length), own,
                     options_of(each), {.heads = heads}, mask)
              .output;
      const Matrix<double> expected = each.rows("out.o").middleRows(b * length, length);
      EXPECT_TRUE(golden::match(got, expected, each.tolerance()));
    }
  }
}

/// reformer-pytorch: one head a batch row, and a scale of 1 / sqrt(head_dim).
TEST(ReformerLshGolden, TheOtherPackageAgrees) {
  for (const golden::Case& each : golden::cases("reformer_lsh2")) {
    SCOPED_TRACE(each.name());
    const Index batch = each.integer("B"), length = each.integer("L"), size = each.integer("bucket_size");
    if (!each.flag("allow_duplicate_attention")) {
      golden::skip(each, "counts occurrences a round at a time");
      continue;
    }
    const Matrix<double> query = each.rows("in.qk"), value = each.rows("in.v");
    const LshBuckets buckets = lsh_buckets(query, rotations_of(each, {length / size}));
    expect_buckets(each, buckets, batch, length / size);
    const bool is_causal = each.flag("causal");
    const LshOptions lsh{.chunk_len = size,
                         .wrap = LshWrap::global,
                         .repeats = LshRepeats::counted,
                         .reach = each.flag("attend_across_buckets") ? LshReach::chunk : LshReach::bucket};
    const AttendOptions options{.scale = 1 / std::sqrt(double(each.integer("D"))),
                                .query_rows = RaggedRows::uniform(batch, length)};
    const check::AnyMask mask = [&](Index i, Index j) { return !is_causal || j <= i; };
    EXPECT_TRUE(golden::match(attend_lsh(query, value, buckets, lsh, options, mask).output,
                              each.rows("out.o"), each.tolerance()));
  }
}

TEST(ReformerLocalGolden, OutputsAgree) {
  for (const golden::Case& each : golden::cases("reformer_local")) {
    SCOPED_TRACE(each.name());
    const Matrix<double> x = each.rows("in.x");
    const LocalChunks chunks{.chunk_len = each.integer("chunk_length"),
                             .chunks_before = each.integer("chunks_before"),
                             .chunks_after = each.integer("chunks_after"),
                             .wrapped = true};
    const RaggedRows rows = RaggedRows::uniform(each.integer("B"), each.integer("L"));
    const bool is_causal = each.flag("is_decoder");
    const check::AnyMask mask = [&](Index i, Index j) { return !is_causal || j <= i; };
    const auto got = attend_over(plans_of(chunks, rows), projected(x, each.rows("param.query.weight")),
                                 projected(x, each.rows("param.key.weight")),
                                 projected(x, each.rows("param.value.weight")),
                                 {.heads = each.integer("heads"), .query_rows = rows}, mask);
    EXPECT_TRUE(golden::match(got.output, each.rows("out.o"), each.tolerance()));
  }
}

}  // namespace
}  // namespace headwise
