#include <headwise/score/dense_bias.hpp>

#include "score/scored_attention.hpp"

namespace headwise::score {
namespace {

/// One number a pair, read from memory.
void dense_bias(benchmark::State& state) {
  const Index seq_len = state.range(0);
  Rng rng(2);
  bench::attend_with(state, score::dense_bias(normal(seq_len, seq_len, 1.0f, rng)));
}
BENCHMARK(dense_bias)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);

}  // namespace
}  // namespace headwise::score
