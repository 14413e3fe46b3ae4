#include <headwise/core/random.hpp>
#include <headwise/position/learned_per_layer.hpp>

#include "support/sweep.hpp"

namespace headwise::position {
namespace {

constexpr Index layers = 4;

/// A segment after a memory of the same length, in every layer.
void learned_per_layer(benchmark::State& state) {
  const Index seq_len = state.range(0);
  Rng rng(1);
  const LearnedPerLayer encoding({.layers = layers, .max_len = 2 * seq_len, .d_model = bench::d_model}, rng);
  const Matrix<float> x = normal(seq_len, bench::d_model, 1.0f, rng),
                      memory = normal(seq_len, bench::d_model, 1.0f, rng);

  for (auto _ : state) {
    for (Index layer = 0; layer < layers; ++layer) {
      auto segment = encoding(x, layer);
      auto remembered = encoding.with_memory(memory, layer, seq_len);
      benchmark::DoNotOptimize(segment.data());
      benchmark::DoNotOptimize(remembered.data());
    }
  }

  const double numbers = 2.0 * double(layers * seq_len * bench::d_model);
  state.counters["flop/s"] = bench::rate(numbers);
  state.counters["byte/s"] = bench::bandwidth(3.0 * sizeof(float) * numbers);
  state.SetComplexityN(seq_len);
}
BENCHMARK(learned_per_layer)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);

}  // namespace
}  // namespace headwise::position
