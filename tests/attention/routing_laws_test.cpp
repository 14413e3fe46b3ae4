#include <headwise/attention/routing_backward.hpp>

#include <gtest/gtest.h>

#include "attention/routing_reference.hpp"
#include "support/check.hpp"
#include "support/pattern_laws.hpp"

#include <string>

namespace headwise::routing_laws_test {
namespace {

using check::near;
using check::random;

check::AnyMask everything() {
  return [](Index, Index) { return true; };
}
check::AnyMask causal() {
  return [](Index q, Index k) { return k <= q; };
}

/// One head of one sequence, against plain loops, forward and backward.
void expect_agreement(Index length, Index clusters, Index window, const RoutingOptions& options,
                      const check::AnyMask& mask, bool shared) {
  SCOPED_TRACE(std::to_string(length) + " tokens, " + std::to_string(clusters) + " clusters of " +
               std::to_string(window));
  const auto query = random(length, 5, 1), value = random(length, 3, 2), d = random(length, 3, 3);
  const auto key = shared ? query : random(length, 5, 4);
  const auto centroids = random(clusters, 5, 5);
  reference::Routing plain{reference::nearest_rows(query, centroids, window),
                           reference::nearest_rows(key, centroids, window), mask};
  plain.self_if_alone = options.self == RoutingSelf::alone;
  const RoutingClusters queries = routing_clusters(query, centroids, window),
                        keys = routing_clusters(key, centroids, window);
  const auto got = attend_routing(query, key, value, queries, keys, options, {}, mask);
  EXPECT_TRUE(near(got.output, reference::routed(query, key, value, plain), 1e-11));
  const auto gradients = attend_routing_backward(query, key, value, queries, keys, got, d, options, {}, mask);
  const auto expected = reference::routed_backward(query, key, value, d, plain);
  EXPECT_TRUE(near(gradients.query, expected.query, 1e-11));
  EXPECT_TRUE(near(gradients.key, expected.key, 1e-11));
  EXPECT_TRUE(near(gradients.value, expected.value, 1e-11));
}

TEST(AttendRouting, IsOneSoftmaxAClusterForAnyLength) {
  for (const Index length : {0, 1, 2, 8, 9, 63, 64, 65, 70}) {
    expect_agreement(length, 3, 7, {}, causal(), true);
    expect_agreement(length, 2, 70, {}, everything(), false);
  }
}

TEST(AttendRouting, ForwardAndBackwardAgreeWithPlainLoopsInEveryMode) {
  for (const RoutingSelf self : {RoutingSelf::allowed, RoutingSelf::alone})
    for (const bool shared : {false, true})
      for (const auto& mask : {causal(), everything()})
        for (const Index window : {1, 4, 9}) expect_agreement(24, 4, window, {.self = self}, mask, shared);
}

/// The standardised waves of eight tokens; centroids are those of T(6), two of them.
TEST(AttendRouting, HasThePublishedNumbers) {
  const Matrix<double> x = standard_heads(check::waves(0, 8, 4), 1), value = check::waves(2, 8, 4);
  const Matrix<double> centroids = standard_heads(check::waves(6, 2, 4), 1);
  const RoutingClusters clusters = routing_clusters(x, centroids, 4);
  EXPECT_EQ(clusters.members, (std::vector<std::int32_t>{1, 2, 3, 4, 2, 3, 4, 5}));
  EXPECT_EQ(nearest_centroids(x, centroids).numbers, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1, 1, 0}));
  const auto got = attend_routing(x, x, value, clusters, clusters, {}, {}, causal());
  Matrix<double> counts(8, 1), third(1, 4);
  counts << 0, 1, 2, 2, 2, 1, 0, 0;
  third << 0.149312213876, -0.793402136386, 0.796144223214, -0.196493643467;
  EXPECT_TRUE(near(got.counts, counts, 0));
  EXPECT_NEAR(check::checksum(got.output), 1.402868622242, 1e-11);
  EXPECT_TRUE(near(got.output.row(3), third, 1e-11));
  for (const Index row : {0, 6, 7}) EXPECT_TRUE(near(got.output.row(row), Matrix<double>::Zero(1, 4), 0));
}

TEST(AttendRouting, OneClusterOfAllTokensIsDenseAttention) {
  const auto x = random(20, 8, 1), value = random(20, 4, 2), centroids = random(1, 8, 3);
  const RoutingClusters all = routing_clusters(x, centroids, 20, 2);
  const auto got = attend_routing(x, x, value, all, all, {}, {.heads = 2}, causal());
  for (Index head = 0; head < 2; ++head) {
    reference::Problem problem;
    problem.allows = causal();
    const auto x_h = x.middleCols(head * 4, 4), v_h = value.middleCols(head * 2, 2);
    EXPECT_TRUE(
        near(got.output.middleCols(head * 2, 2), reference::attention(x_h, x_h, v_h, problem), 1e-12));
  }
}

TEST(AttendRouting, ServesHeadsAndRaggedBatches) {
  const auto x = random(30, 8, 1), value = random(30, 4, 2), centroids = random(3, 8, 3),
             d = random(30, 4, 4);
  const AttendOptions options{.heads = 2, .scale = 0.7, .query_rows = RaggedRows::from_lengths({3, 0, 27})};
  const RoutingClusters clusters = routing_clusters(x, centroids, 5, 2, options.query_rows);
  const auto got = attend_routing(x, x, value, clusters, clusters, {}, options, causal());
  const auto gradients =
      attend_routing_backward(x, x, value, clusters, clusters, got, d, {}, options, causal());
  for (const Range& r : {Range{0, 3}, Range{3, 30}}) {
    for (Index head = 0; head < 2; ++head) {
      const Matrix<double> x_h = x.block(r.begin, head * 4, r.size(), 4);
      const Matrix<double> v_h = value.block(r.begin, head * 2, r.size(), 2);
      const auto rows = reference::nearest_rows(x_h, centroids.middleCols(head * 4, 4), 5);
      const reference::Routing plain{rows, rows, causal(), 0.7};
      EXPECT_TRUE(near(got.output.block(r.begin, head * 2, r.size(), 2),
                       reference::routed(x_h, x_h, v_h, plain), 1e-11));
      const auto expected =
          reference::routed_backward(x_h, x_h, v_h, d.block(r.begin, head * 2, r.size(), 2), plain);
      EXPECT_TRUE(near(gradients.query.block(r.begin, head * 4, r.size(), 4), expected.query, 1e-11));
      EXPECT_TRUE(near(gradients.key.block(r.begin, head * 4, r.size(), 4), expected.key, 1e-11));
      EXPECT_TRUE(near(gradients.value.block(r.begin, head * 2, r.size(), 2), expected.value, 1e-11));
    }
  }
}

/// Gradients of memory against difference quotients: every query of the cluster sees it.
TEST(AttendRouting, MemoryOfAClusterLearns) {
  const auto query = random(9, 4, 1), key = random(9, 4, 2), value = random(9, 3, 3), d = random(9, 3, 4);
  const auto centroids = random(3, 4, 5);
  const RoutingClusters q = routing_clusters(query, centroids, 3), k = routing_clusters(key, centroids, 3);
  RoutingMemory<double> memory{random(6, 4, 6), random(6, 3, 7)};
  const auto loss = [&] {
    return attend_routing(query, key, value, q, k, {}, {}, causal(), memory).output.cwiseProduct(d).sum();
  };
  const auto routed = attend_routing(query, key, value, q, k, {}, {}, causal(), memory);
  const auto g = attend_routing_backward(query, key, value, q, k, routed, d, {}, {}, causal(), memory);
  const double step = 1e-5;
  for (auto [numbers, gradient] : {std::pair{&memory.key, &g.memory.key}, {&memory.value, &g.memory.value}}) {
    for (Index i = 0; i < numbers->size(); ++i) {
      double& x = numbers->data()[i];
      const double kept = x;
      x = kept + step;
      const double up = loss();
      x = kept - step;
      const double down = loss();
      x = kept;
      EXPECT_NEAR(gradient->data()[i], (up - down) / (2 * step), 1e-8);
    }
  }
}

TEST(AttendRouting, RefusesWhatItCannotServe) {
  const auto x = random(6, 4, 1), c = random(2, 4, 2);
  const RoutingClusters good = routing_clusters(x, c, 3);
  const auto call = [&](const RoutingClusters& queries, const RoutingClusters& keys,
                        const AttendOptions& options, const RoutingMemory<double>& memory = {}) {
    return check::refusal(
        [&] { (void)attend_routing(x, x, x, queries, keys, {}, options, everything(), memory); });
  };
  EXPECT_EQ(
      check::refusal([&] { (void)routing_clusters(x, c, 0); }),
      "routing_clusters: window is 0, expected a positive number; the number of tokens a cluster takes");
  EXPECT_EQ(check::refusal([&] { (void)routing_clusters(x, Matrix<double>(0, 4), 3); }),
            "routing_clusters: clusters is 0, expected a positive number; one row of centroids a cluster");
  EXPECT_EQ(check::refusal([&] { (void)routing_clusters(x, random(2, 3, 1), 3); }),
            "routing_clusters: columns of centroids is 3, expected 4; the width of x");
  EXPECT_EQ(call(good, routing_clusters(x, random(3, 4, 2), 2), {}),
            "attend_routing: clusters of keys is 3, expected 2");
  EXPECT_EQ(call(good, good, {.heads = 2}), "attend_routing: heads of clusters is 1, expected 2");
  EXPECT_EQ(
      call(good, good, {.query_rows = RaggedRows::from_lengths({2, 4})}),
      "attend_routing: the clusters are of other sequences, expected those of query_rows; give the same "
      "rows to routing_clusters");
  EXPECT_EQ(
      call(good, good, {.query_offset = 1}),
      "attend_routing: query_offset, positions or key_rows are given, expected none of them; tokens look "
      "at each other, and go by their rows");
  EXPECT_EQ(call(good, good, {}, {random(3, 4, 1), random(3, 4, 1)}),
            "attend_routing: memory key rows is 3, expected a multiple of 2 (clusters)");
}

}  // namespace
}  // namespace headwise::routing_laws_test
