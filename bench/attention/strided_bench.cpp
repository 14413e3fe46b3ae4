#include <headwise/attention/strided.hpp>

#include "mask/planned_attention.hpp"

#include <cmath>

namespace headwise {
namespace {

/// One head with both sets; the stride grows with the square root of the length, as in the paper.
void strided(benchmark::State& state) {
  const Index seq_len = state.range(0), head_dim = 64;
  const Index stride = Index(std::lround(std::sqrt(double(seq_len))));
  Rng rng(1);
  const auto x = normal(seq_len, head_dim, 1.0f, rng);

  for (auto _ : state) {
    auto result = attend_strided(stride, x, x, x);
    benchmark::DoNotOptimize(result.output.data());
  }

  // The window, and of each class of tokens all pairs but those of a token with itself.
  const Index window = seq_len * stride - bench::triangle(stride - 1);
  const Index pairs = window + bench::causal_class_pairs(seq_len, stride) - seq_len;
  state.counters["pairs"] = double(pairs);
  state.counters["flop/s"] = bench::rate(4.0 * double(head_dim * pairs));
  state.SetComplexityN(seq_len);
}
BENCHMARK(strided)->Apply(bench::sequence_lengths)->Complexity([](benchmark::IterationCount n) {
  return std::pow(double(n), 1.5);  // the paper's claim
});

}  // namespace
}  // namespace headwise
