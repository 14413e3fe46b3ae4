#include <headwise/attention/routing.hpp>
#include <headwise/core/random.hpp>
#include <headwise/mask/causal.hpp>

#include "support/sweep.hpp"

#include <cmath>

namespace headwise {
namespace {

/// sqrt(seq_len) clusters, as near as a power of two comes, of seq_len / clusters tokens; choosing included.
void routing(benchmark::State& state) {
  const Index seq_len = state.range(0), head_dim = 64;
  const Index clusters = Index(std::exp2(std::round(std::log2(double(seq_len)) / 2)));
  const Index window = seq_len / clusters;
  Rng rng(1);
  const auto x = standard_heads(normal(seq_len, head_dim, 1.0f, rng), 1);
  const auto value = normal(seq_len, head_dim, 1.0f, rng);
  const auto centroids = standard_heads(normal(clusters, head_dim, 1.0f, rng), 1);

  for (auto _ : state) {
    const RoutingClusters chosen = routing_clusters(x, centroids, window);
    auto result = attend_routing(x, x, value, chosen, chosen, {}, {}, mask::Causal{});
    benchmark::DoNotOptimize(result.output.data());
  }

  const double pairs = double(clusters * window) * double(window + 1) / 2;
  state.counters["pairs"] = pairs;
  state.counters["flop/s"] =
      bench::rate(4.0 * double(head_dim) * pairs + 2.0 * double(seq_len * clusters * head_dim));
  state.SetComplexityN(seq_len);
}
BENCHMARK(routing)->Apply(bench::sequence_lengths)->Complexity([](benchmark::IterationCount n) {
  return std::pow(double(n), 1.5);  // the paper's claim
});

}  // namespace
}  // namespace headwise
