#include <headwise/autograd/routing.hpp>

#include "autograd/laws.hpp"
#include "support/routing_any_mask.hpp"

namespace headwise::routing_test {
namespace {

using check::near;
using check::random;

check::AnyMask causal() {
  return [](Index q, Index k) { return k <= q; };
}

const AttendOptions options{.heads = 2, .query_rows = RaggedRows::from_lengths({9, 0, 4})};

/// Clusters are a choice: here, made once.
RoutingClusters clusters_of(const Matrix<double>& x, std::uint64_t seed = 9) {
  return routing_clusters(x, random(3, x.cols(), seed), 4, 2, options.query_rows);
}

TEST(RecordedRouting, HasTheGradientsOfQueryKeyAndValue) {
  const laws::Inputs inputs{random(13, 6, 1), random(13, 6, 2), random(13, 4, 3)};
  const RoutingClusters queries = clusters_of(inputs[0]), keys = clusters_of(inputs[1], 8);
  laws::expect_gradients(
      [&](const auto& x) {
        return attend_routing(x[0], x[1], x[2], queries, keys, {}, options, causal()).output;
      },
      inputs);
}

TEST(RecordedRouting, AddsUpWhatASharedQueryAndKeyGets) {
  const laws::Inputs inputs{random(13, 6, 1), random(13, 4, 3)};
  const RoutingClusters clusters = clusters_of(standard_heads(inputs[0], 2));
  laws::expect_gradients(
      [&](const auto& x) {
        const auto compared = standard_heads(x[0], 2);
        return attend_routing(compared, compared, x[1], clusters, clusters, {.self = RoutingSelf::alone},
                              options, causal())
            .output;
      },
      inputs);
}

TEST(RecordedRouting, MemoryLearnsWhereItIsAVariable) {
  const auto x = random(13, 6, 1), v = random(13, 4, 2), d = random(13, 4, 3);
  const RoutingMemory<double> memory{random(6, 6, 4), random(6, 4, 5)};
  const RoutingClusters clusters = clusters_of(x);
  const auto routed = attend_routing(x, x, v, clusters, clusters, {}, options, causal(), memory);
  const auto expected =
      attend_routing_backward(x, x, v, clusters, clusters, routed, d, {}, options, causal(), memory);
  autograd::Tape<double> tape;
  const auto query = tape.input(x), value = tape.input(v);
  const autograd::RoutingMemoryVar<double> learned{tape.input(memory.key), tape.input(memory.value)};
  const auto y =
      attend_routing(query, query, value, clusters, clusters, {}, options, causal(), learned).output;
  EXPECT_EQ(tape.size(), 5u);
  EXPECT_EQ(y.value(), routed.output);
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto got = backward(y, d);
    EXPECT_EQ(got.of(query), Matrix<double>(expected.query + expected.key));
    EXPECT_EQ(got.of(value), expected.value);
    EXPECT_EQ(got.of(learned.key), expected.memory.key);
    EXPECT_EQ(got.of(learned.value), expected.memory.value);
  }
}

TEST(RecordedRouting, CentroidsAreMovedByMeansAndNeverByAGradient) {
  const Matrix<double> centroids = random(3, 6, 9);
  autograd::Tape<double> tape;
  const auto x = tape.input(random(13, 6, 1));
  const auto compared = standard_heads(x, 2);
  const RoutingClusters clusters = routing_clusters(compared, centroids, 4, 2, options.query_rows);
  EXPECT_EQ(clusters.members,
            routing_clusters(compared.value(), centroids, 4, 2, options.query_rows).members);
  const NearestCentroids nearest = nearest_centroids(compared, centroids, 2);
  const auto loss = commitment(compared, centroids, nearest, 0.5).loss;
  EXPECT_EQ(loss.value()(0, 0), commitment(compared.value(), centroids, nearest, 0.5).loss);
  const auto gradients = backward(loss);
  EXPECT_EQ(gradients.size(), 0u) << "no parameter among the centroids";
  const auto moved = CentroidAverages<double>::of(centroids, 2).after(compared.value(), nearest, 0.9);
  EXPECT_NE(moved.centroids(), centroids);
}

TEST(RecordedRouting, TheCommitmentDrawsTokensToTheirCentroids) {
  const Matrix<double> centroids = random(3, 6, 9);
  const laws::Inputs inputs{random(13, 6, 1)};
  const NearestCentroids nearest = nearest_centroids(inputs[0], centroids, 2);
  autograd::Tape<double> tape;
  const auto x = tape.input(inputs[0]);
  const Matrix<double> got = backward(commitment(x, centroids, nearest, 2.0).loss).of(x);
  for (Index i = 0; i < got.size(); ++i) {
    Matrix<double> moved = inputs[0];
    moved.data()[i] += 1e-5;
    const double above = commitment(moved, centroids, nearest, 2.0).loss;
    moved.data()[i] -= 2e-5;
    EXPECT_NEAR(got.data()[i], (above - commitment(moved, centroids, nearest, 2.0).loss) / 2e-5, 1e-9);
  }
}

TEST(RecordedRouting, GradientsOfABatchAreTheSumOfThoseOfItsTexts) {
  const Matrix<double> x = random(13, 6, 1), d = random(13, 6, 2), centroids = random(3, 6, 9);
  const auto gradient_of = [&](const Matrix<double>& rows, const Matrix<double>& d_rows,
                               const AttendOptions& o) {
    autograd::Tape<double> tape;
    const auto input = tape.input(rows);
    const RoutingClusters clusters = routing_clusters(input, centroids, 4, 2, o.query_rows);
    return backward(attend_routing(input, input, input, clusters, clusters, {}, o, causal()).output, d_rows)
        .of(input);
  };
  const Matrix<double> batch = gradient_of(x, d, options);
  EXPECT_TRUE(near(batch.topRows(9), gradient_of(x.topRows(9), d.topRows(9), {.heads = 2}), 1e-13));
  EXPECT_TRUE(near(batch.bottomRows(4), gradient_of(x.bottomRows(4), d.bottomRows(4), {.heads = 2}), 1e-13));
}

}  // namespace
}  // namespace headwise::routing_test
