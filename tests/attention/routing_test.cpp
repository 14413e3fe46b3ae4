#include <headwise/attention/explain.hpp>
#include <headwise/attention/routing.hpp>
#include <headwise/mask/causal.hpp>

#include <gtest/gtest.h>

#include "attention/routing_reference.hpp"
#include "support/check.hpp"

namespace headwise {
namespace {

using check::near;
using check::random;

TEST(AttendRouting, LooksAtTheTokensOfTheSameClusters) {
  namespace hw = headwise;
  hw::Rng rng(1);
  const auto projected = hw::normal(64, 16, 1.0f, rng), value = hw::normal(64, 8, 1.0f, rng);
  // [docs attention/routing]
  const hw::Matrix<float> x = hw::standard_heads(projected, 2);  // query and key at once
  const hw::Matrix<float> centroids = hw::standard_heads(hw::normal(8, 16, 1.0f, rng), 2);
  const auto clusters = hw::routing_clusters(x, centroids, 8, 2);
  const hw::Matrix<float> y =
      hw::attend_routing(x, x, value, clusters, clusters, {}, {.heads = 2}, hw::mask::Causal{}).output;

  auto averages = hw::CentroidAverages<float>::of(centroids, 2);  // state in, state out
  averages = averages.after(x, hw::nearest_centroids(x, centroids, 2), 0.999);
  const hw::Matrix<float> moved = averages.centroids();
  // [docs end]
  for (Index head = 0; head < 2; ++head) {
    const Matrix<double> x_h = x.middleCols(head * 8, 8).cast<double>();
    const Matrix<double> v_h = value.middleCols(head * 4, 4).cast<double>();
    const auto rows = reference::nearest_rows(x_h, centroids.middleCols(head * 8, 8).cast<double>(), 8);
    const reference::Routing plain{rows, rows, [](Index i, Index j) { return j <= i; }};
    EXPECT_TRUE(near(y.middleCols(head * 4, 4), reference::routed(x_h, x_h, v_h, plain), 1e-5));
  }
  EXPECT_EQ(moved.rows(), 8);
  EXPECT_TRUE(moved.allFinite());
}

/// k clusters of w tokens, k w = n: k w^2 pairs, k w (w + 1) / 2 when causal; 2 (head_dim + value_dim) FLOPs
/// each.
TEST(AttendRouting, CostsWhatTheFormulaSays) {
  for (const Index window : {4, 16, 64}) {
    const Index length = 256, clusters = length / window;
    const auto x = random(length, 4, 1), centroids = random(clusters, 4, 2);
    const RoutingClusters chosen = routing_clusters(x, centroids, window);
    const RoutingMemory<double> none;
    const auto counted = [&](const auto& mask) {
      const attention::RoutingCall<double, std::remove_cvref_t<decltype(mask)>> call(
          x, x, x, chosen, chosen, none, RoutingOptions{}, AttendOptions{}, mask);
      const Explanation e = explain<double>({.q_len = length, .k_len = length, .head_dim = 4}, call.options(),
                                            call.pairs(), &call.plans());
      EXPECT_EQ(e.forward_flops, 16.0 * double(e.pairs));
      return e.pairs;
    };
    EXPECT_EQ(counted(mask::None{}), clusters * window * window);
    EXPECT_EQ(counted(mask::Causal{}), clusters * window * (window + 1) / 2);
  }
}

}  // namespace
}  // namespace headwise
