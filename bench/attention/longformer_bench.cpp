#include <headwise/attention/longformer.hpp>

#include "mask/masked_attention.hpp"

#include <vector>

namespace headwise {
namespace {

/// The published window of 512, 256 on each side, and 16 global tokens in front, one head.
void longformer(benchmark::State& state) {
  const Index seq_len = state.range(0), head_dim = 64, global = 16;
  LongformerPattern pattern{.reach = 256};
  pattern.global.assign(std::size_t(seq_len), false);
  std::fill_n(pattern.global.begin(), global, true);
  Rng rng(1);
  const auto x = normal(seq_len, head_dim, 1.0f, rng);

  for (auto _ : state) {
    auto result = attend_longformer(LongformerInputs<float>{x, x, x, x, x, x}, pattern);
    benchmark::DoNotOptimize(result.output.data());
  }

  Index pairs = global * seq_len;
  for (Index i = global; i < seq_len; ++i)
    pairs += global + std::min(i + pattern.reach, seq_len - 1) - std::max(i - pattern.reach, global) + 1;
  state.counters["pairs"] = double(pairs);
  state.counters["flop/s"] = bench::rate(4.0 * double(head_dim * pairs));
  state.SetComplexityN(seq_len);
}
BENCHMARK(longformer)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);  // the paper's claim

}  // namespace
}  // namespace headwise
