#include <headwise/mask/by_head.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/sliding_window.hpp>

#include "mask/masked_attention.hpp"

namespace headwise::mask {
namespace {

/// Two heads: one sees the last 256 tokens, the other all tokens before it.
void by_head(benchmark::State& state) {
  const Index seq_len = state.range(0), head_dim = 64, width = 256;
  const auto mask = mask::by_head(SlidingWindow{.width = width}, Causal{});
  Rng rng(1);
  const auto x = normal(seq_len, 2 * head_dim, 1.0f, rng);

  for (auto _ : state) {
    auto output = attend(x, x, x, {.heads = 2}, mask);
    benchmark::DoNotOptimize(output.data());
  }

  const Index pairs = seq_len * width - bench::triangle(width - 1) + bench::triangle(seq_len);
  state.counters["pairs"] = double(pairs);
  state.counters["flop/s"] = bench::rate(4.0 * double(head_dim * pairs));
  state.SetComplexityN(seq_len);
}
BENCHMARK(by_head)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);  // the causal head's

}  // namespace
}  // namespace headwise::mask
