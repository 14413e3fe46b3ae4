#include <headwise/attention/attend.hpp>
#include <headwise/attention/label_scores.hpp>
#include <headwise/core/random.hpp>
#include <headwise/mask/sliding_window.hpp>
#include <headwise/score/query_distance.hpp>

#include "support/sweep.hpp"

namespace headwise::score {
namespace {

/// A causal window of 128 tokens, each of whose distances has a learned vector.
void query_distance(benchmark::State& state) {
  const Index seq_len = state.range(0), head_dim = 64, reach = 127;
  Rng rng(1);
  const auto query = normal(seq_len, head_dim, 1.0f, rng), key = normal(seq_len, head_dim, 1.0f, rng),
             value = normal(seq_len, head_dim, 1.0f, rng),
             vectors = normal(2 * reach + 1, head_dim, 1.0f, rng);
  const auto labels = distance_labels(reach, reach);
  const mask::SlidingWindow window{.width = reach + 1};

  for (auto _ : state) {
    auto output = attend(query, key, value, window, QueryDistance(label_scores(query, vectors, labels)));
    benchmark::DoNotOptimize(output.data());
  }

  // Two products a visible pair, and that of all queries and vectors.
  const double pairs = double((reach + 1) * seq_len) - 0.5 * double(reach * (reach + 1));
  state.counters["pairs"] = pairs;
  state.counters["flop/s"] =
      bench::rate(4.0 * double(head_dim) * pairs + 2.0 * double(head_dim * seq_len * (2 * reach + 1)));
  state.SetComplexityN(seq_len);
}
BENCHMARK(query_distance)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);

}  // namespace
}  // namespace headwise::score
