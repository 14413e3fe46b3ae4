#include <headwise/attention/explain.hpp>
#include <headwise/attention/routing.hpp>
#include <headwise/core/thread_pool.hpp>
#include <headwise/mask/causal.hpp>

#include <gtest/gtest.h>

#include "attention/routing_reference.hpp"
#include "support/check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

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

/// Small whole numbers, so that many tokens are equally near, one of them unlike all; against a plain sort.
TEST(RoutingClusters, TakeTheNearestAndTheLowerRowOfEquals) {
  Rng rng(5);
  ThreadPool pool(2);
  for (const Index length : {1, 63, 64, 65, 700, 2100}) {
    Matrix<double> x(length, 2), centroids(70, 2);
    for (Index i = 0; i < x.size(); ++i) x.data()[i] = double(rng.below(5)) - 2;
    for (Index i = 0; i < centroids.size(); ++i) centroids.data()[i] = double(rng.below(5)) - 2;
    x(length / 2, 0) = std::numeric_limits<double>::quiet_NaN();
    const auto near_by = [&](Index c, Index row) {
      const double dot = x(row, 0) * centroids(c, 0) + x(row, 1) * centroids(c, 1);
      return std::isnan(dot) ? -std::numeric_limits<double>::infinity() : dot;
    };
    for (const Index window : {1, 7, 64, 3000}) {
      const RoutingClusters chosen = routing_clusters(x, centroids, window);
      const Index size = std::min(window, length);
      for (Index c = 0; c < 70; ++c) {
        std::vector<std::int32_t> rows(static_cast<std::size_t>(length));
        std::iota(rows.begin(), rows.end(), 0);
        std::stable_sort(rows.begin(), rows.end(),
                         [&](auto a, auto b) { return near_by(c, a) > near_by(c, b); });
        rows.resize(std::size_t(size));
        std::sort(rows.begin(), rows.end());
        const auto members = chosen.of(0, 0).subspan(std::size_t(c * size), std::size_t(size));
        ASSERT_TRUE(std::equal(rows.begin(), rows.end(), members.begin()))
            << length << ", " << window << ", " << c;
      }
      EXPECT_EQ(routing_clusters(x, centroids, window, 1, {}, pool.executor()).members, chosen.members);
    }
    const NearestCentroids nearest = nearest_centroids(x, centroids);
    for (Index row = 0; row < length; ++row) {
      Index best = 0;
      for (Index c = 1; c < 70; ++c)
        if (near_by(c, row) > near_by(best, row)) best = c;
      ASSERT_EQ(nearest.numbers[std::size_t(row)], best) << row;
    }
  }
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
