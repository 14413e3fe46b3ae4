// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/attention/sinkhorn.hpp>

#include <gtest/gtest.h>

#include "support/any_mask.hpp"
#include "support/golden.hpp"

#include <cmath>

namespace headwise {
namespace {

/// Matrix i of a tensor [count, rows, cols].
Matrix<double> matrix_of(const golden::Tensor& t, Index i) {
  Matrix<double> m(t.dim(1), t.dim(2));
  for (Index r = 0; r < m.rows(); ++r)
    for (Index c = 0; c < m.cols(); ++c) m(r, c) = t.at(i, r, c);
  return m;
}

TEST(SinkhornGolden, BalancedMatricesAgree) {
  for (const golden::Case& each : golden::cases("sinkhorn_op")) {
    SCOPED_TRACE(each.name());
    const Index iterations = each.integer("iters");
    for (Index i = 0; i < each.tensor("in.r").dim(0); ++i) {
      const Matrix<double> r = matrix_of(each.tensor("in.r"), i);
      EXPECT_TRUE(golden::match(
          sinkhorn(Matrix<double>(r.array().log()), {.iterations = iterations, .temperature = 1}),
          matrix_of(each.tensor("out.sinkhorn"), i), each.tolerance()));
      EXPECT_TRUE(golden::match(sinkhorn(r,
                                         {.iterations = iterations,
                                          .temperature = each.number("temperature"),
                                          .scores = SinkhornScores::positive},
                                         matrix_of(each.tensor("in.gumbel"), i)),
                                matrix_of(each.tensor("out.gumbel_sinkhorn"), i), each.tolerance()));
    }
  }
}

TEST(SinkhornGolden, SortingWeightsAndOutputsAgree) {
  for (const golden::Case& each : golden::cases("sinkhorn_attn")) {
    SCOPED_TRACE(each.name());
    const std::string variant = each.text("variant");
    if (variant != "permutative" && variant != "topk" && variant != "sortcut") {
      golden::skip(each, "variant " + variant);
      continue;
    }
    const bool cut = variant == "sortcut";
    const Index heads = each.integer("H"), block = each.integer("bucket_size");
    const RaggedRows rows = RaggedRows::uniform(each.integer("B"), each.integer("L"));
    const Matrix<double> query = each.heads("in.q"), key = each.heads("in.k"), value = each.heads("in.v");
    const auto scores =
        block_scores(query, key, block, heads, cut ? BlockQuery::whole : BlockQuery::mean, rows);
    BlockMatrices<double> weights;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (variant == "permutative") {
        weights.push_back(sinkhorn(scores[i],
                                   {.iterations = each.integer("sinkhorn_iter"),
                                    .temperature = each.number("temperature"),
                                    .scores = SinkhornScores::positive},
                                   matrix_of(each.tensor("in.gumbel"), Index(i))));
      } else {
        weights.push_back(best_blocks(scores[i], each.integer(cut ? "n_sortcut" : "n_top_buckets")));
      }
      EXPECT_TRUE(golden::match(weights.back(), matrix_of(each.tensor("out.R"), Index(i)), each.tolerance()));
    }
    const check::AnyMask everything = [](Index, Index) { return true; };
    const auto got = attend_sinkhorn(query, key, value, weights, block,
                                     cut ? SinkhornReach::all_blocks : SinkhornReach::own_blocks,
                                     {.heads = heads, .query_rows = rows}, everything);
    EXPECT_TRUE(golden::match(got.output, each.heads("out.o"), each.tolerance()));
  }
}

}  // namespace
}  // namespace headwise
