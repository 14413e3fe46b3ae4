// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/attention/routing.hpp>

#include <gtest/gtest.h>

#include "support/any_mask.hpp"
#include "support/golden.hpp"

#include <algorithm>

namespace headwise {
namespace {

/// [heads, rows, dim] -> [rows, heads * dim], or [heads, clusters, count, dim] -> [clusters * count, heads *
/// dim].
Matrix<double> packed(const golden::Tensor& t) {
  const Index heads = t.dim(0), dim = t.dim(-1), rows = t.size() / heads / dim;
  Matrix<double> out(rows, heads * dim);
  for (Index i = 0; i < t.size(); ++i)
    out(i / dim % rows, i / dim / rows * dim + i % dim) = t.values()[std::size_t(i)];
  return out;
}

/// [batch, heads, clusters, window] of rows, best first; ours are in ascending order.
void expect_clusters(const RoutingClusters& got, const golden::Tensor& expected) {
  const Index window = expected.dim(3);
  for (Index b = 0; b < expected.dim(0); ++b)
    for (Index head = 0; head < expected.dim(1); ++head)
      for (Index c = 0; c < expected.dim(2); ++c) {
        std::vector<std::int32_t> rows;
        for (Index i = 0; i < window; ++i) rows.push_back(std::int32_t(expected.at(b, head, c, i)));
        std::sort(rows.begin(), rows.end());
        const auto ours = got.of(b, head).subspan(std::size_t(c * window), std::size_t(window));
        EXPECT_TRUE(std::equal(rows.begin(), rows.end(), ours.begin())) << b << ", " << head << ", " << c;
      }
}

/// Lengths of one go into routing and the means, raw queries and keys into the scores; a shared key is of
/// unit length.
TEST(RoutingGolden, ClustersOutputsAndMeansAgree) {
  for (const golden::Case& each : golden::cases("routing")) {
    SCOPED_TRACE(each.name());
    const Index heads = each.integer("H"), window = each.integer("window_size");
    const RaggedRows rows = RaggedRows::uniform(each.integer("B"), each.integer("L"));
    const bool is_shared = each.flag("shared_qk"), is_causal = each.flag("causal");
    const Matrix<double> query = each.heads("in.q"), unit_query = unit_heads(query, heads);
    const Matrix<double> key = is_shared ? unit_query : each.heads("in.k"), unit_key = unit_heads(key, heads);
    const Matrix<double> means = packed(each.tensor("in.means"));
    const RoutingClusters queries = routing_clusters(unit_query, means, window, heads, rows);
    const RoutingClusters keys = routing_clusters(unit_key, means, window, heads, rows);
    expect_clusters(queries, each.tensor("out.q_indices"));
    expect_clusters(keys, each.tensor("out.k_indices"));

    RoutingMemory<double> memory;
    if (each.integer("num_mem_kv") > 0)
      memory = {packed(each.tensor("param.mem_key")), packed(each.tensor("param.mem_value"))};
    const RoutingOptions routing{.self = is_shared ? RoutingSelf::alone : RoutingSelf::allowed,
                                 .count_epsilon = each.number("scatter_eps")};
    const check::AnyMask mask = [&](Index i, Index j) { return !is_causal || j <= i; };
    const auto got = attend_routing(query, key, each.heads("in.v"), queries, keys, routing,
                                    {.heads = heads, .query_rows = rows}, mask, memory);
    EXPECT_TRUE(golden::match(got.output, each.heads("out.o"), each.tolerance()));

    Matrix<double> tokens = unit_query;
    if (!is_shared) {
      tokens.conservativeResize(2 * query.rows(), query.cols());
      tokens.bottomRows(query.rows()) = unit_key;
    }
    const NearestCentroids nearest = nearest_centroids(tokens, means, heads);
    const Matrix<double> next = k_means_step(tokens, means, nearest);
    EXPECT_TRUE(golden::match(next, packed(each.tensor("out.means_one_iteration")), each.tolerance()));
    EXPECT_TRUE(golden::match(averaged_centroids(means, next, each.number("ema_decay")),
                              packed(each.tensor("out.means_ema")), each.tolerance()));
    const double loss = commitment(tokens, means, nearest, each.number("commitment")).loss;
    EXPECT_NEAR(loss, each.tensor("out.commitment_loss").values()[0], each.tolerance().abs);
  }
}

}  // namespace
}  // namespace headwise
