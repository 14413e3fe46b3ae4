// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <gtest/gtest.h>

#include "golden/model_case.hpp"
#include "support/lsh_any_mask.hpp"
#include "support/published_reformer.hpp"

#include <algorithm>
#include <string>

namespace headwise {
namespace {

/// Buckets of the source carry the round: [batch, heads, rounds, length].
void expect_buckets(const golden::Tensor& expected, const LshBuckets& got, std::int32_t per_round) {
  const Index batch = expected.dim(0), length = expected.dim(3);
  for (Index b = 0; b < batch; ++b)
    for (Index head = 0; head < expected.dim(1); ++head)
      for (Index round = 0; round < expected.dim(2); ++round)
        for (Index i = 0; i < length; ++i)
          ASSERT_EQ(
              double(got.of(head, round)[std::size_t(b * length + i)] + std::int32_t(round) * per_round),
              expected.at(b, head, round, i));
}

TEST(ReformerGolden, BucketsHiddenStatesAndLogitsAgree) {
  for (const golden::Case& each : golden::cases("reformer")) {
    SCOPED_TRACE(each.name());
    auto model = published::load_reformer(golden::model_folder(each));
    const golden::Tensor& drawn = each.tensor("in.rotations");  // [heads, head_dim, rounds, width]
    LshRotations<double> rotations{drawn.dim(0), drawn.dim(2), model.options().factors,
                                   Matrix<double>(drawn.dim(0) * drawn.dim(1), drawn.dim(2) * drawn.dim(3))};
    std::copy(drawn.values().begin(), drawn.values().end(), rotations.values.data());
    model.hash_by(rotations);

    const auto ids = golden::ids(each, "in.input_ids");
    const AttendOptions options{.query_rows = golden::rows_of(each, "in.input_ids")};
    const check::AnyMask causal = [](Index q, Index k) { return k <= q; };
    std::int32_t per_round = 1;
    for (const Index factor : model.options().factors) per_round *= std::int32_t(factor);
    const Matrix<double> logits =
        model.observed(std::span<const TokenId>(ids), options, causal,
                       [&](Index layer, const Matrix<double>& x, const LshBuckets& buckets) {
                         EXPECT_TRUE(golden::match(x, each.rows("out.hidden_states." + std::to_string(layer)),
                                                   each.tolerance()))
                             << layer;
                         if (const std::string name = "out.buckets." + std::to_string(layer); each.has(name))
                           expect_buckets(each.tensor(name), buckets, per_round);
                       });
    EXPECT_TRUE(golden::match(logits, each.rows("out.logits"), each.tolerance()));
    EXPECT_EQ(model(ids, options, causal), logits);
  }
}

}  // namespace
}  // namespace headwise
