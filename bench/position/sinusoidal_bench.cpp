#include <headwise/core/random.hpp>
#include <headwise/position/sinusoidal.hpp>

#include "support/sweep.hpp"

namespace headwise::position {
namespace {

void sinusoidal(benchmark::State& state) {
  const Index seq_len = state.range(0);
  Rng rng(1);
  const Sinusoidal encoding({.d_model = bench::d_model});
  const Matrix<float> x = normal(seq_len, bench::d_model, 1.0f, rng);

  for (auto _ : state) {
    auto y = encoding(x);
    benchmark::DoNotOptimize(y.data());
  }

  // Per number of x: half a sine and a cosine, counted as one, and the addition.
  state.counters["flop/s"] = bench::rate(2.0 * double(seq_len * bench::d_model));
  state.SetComplexityN(seq_len);
}
BENCHMARK(sinusoidal)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);

}  // namespace
}  // namespace headwise::position
