#include <headwise/attention/etc.hpp>
#include <headwise/core/random.hpp>

#include "support/sweep.hpp"

namespace headwise {
namespace {

/// The published radius of 84 and 64 global tokens, one head.
void etc(benchmark::State& state) {
  const Index n_long = state.range(0), n_global = 64, head_dim = 64, radius = 84;
  Rng rng(1);
  const auto l = normal(n_long, head_dim, 1.0f, rng), g = normal(n_global, head_dim, 1.0f, rng);
  const auto pieces = etc_pieces(etc_piece(l, l), etc_piece(g, g), etc_piece(g, g), etc_piece(l, l));

  for (auto _ : state) {
    auto result = attend_etc(l, g, pieces, {.radius = radius});
    benchmark::DoNotOptimize(result.from_long.output.data());
  }

  const Index window = n_long * (2 * radius + 1) - radius * (radius + 1);
  const Index pairs = window + 2 * n_long * n_global + n_global * n_global;
  state.counters["pairs"] = double(pairs);
  state.counters["flop/s"] = bench::rate(4.0 * double(head_dim * pairs));
  state.SetComplexityN(n_long);
}
BENCHMARK(etc)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);  // the paper's claim

}  // namespace
}  // namespace headwise
