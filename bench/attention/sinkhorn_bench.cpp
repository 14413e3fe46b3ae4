#include <headwise/attention/sinkhorn.hpp>
#include <headwise/core/random.hpp>

#include "support/sweep.hpp"

namespace headwise {
namespace {

/// Blocks of 64; scores, balancing and the sorted blocks included. Those grow with the square of the number
/// of blocks, which the lengths of this sweep begin to show.
void sinkhorn_attention(benchmark::State& state) {
  const Index seq_len = state.range(0), head_dim = 64, block_len = 64;
  Rng rng(1);
  const auto query = normal(seq_len, head_dim, 1.0f, rng), key = normal(seq_len, head_dim, 1.0f, rng);
  const auto value = normal(seq_len, head_dim, 1.0f, rng);

  for (auto _ : state) {
    BlockMatrices<float> weights = block_scores(query, key, block_len);
    weights[0] = sinkhorn(weights[0]);
    auto result = attend_sinkhorn(query, key, value, weights, block_len);
    benchmark::DoNotOptimize(result.output.data());
  }

  const Index pairs = 2 * seq_len * block_len, blocks = seq_len / block_len;
  state.counters["pairs"] = double(pairs);
  state.counters["flop/s"] = bench::rate(4.0 * double(head_dim * pairs + seq_len * blocks * head_dim));
  state.SetComplexityN(seq_len);
}
BENCHMARK(sinkhorn_attention)->Apply(bench::sequence_lengths)->Complexity();

}  // namespace
}  // namespace headwise
