#include <headwise/core/random.hpp>
#include <headwise/position/axial.hpp>

#include "support/sweep.hpp"

namespace headwise::position {
namespace {

/// A grid with 64 columns; half of the 512 numbers are the row's.
void axial(benchmark::State& state) {
  const Index seq_len = state.range(0);
  Rng rng(1);
  const Axial<float> encoding({.rows = seq_len / 64, .columns = 64, .row_width = 256, .column_width = 256},
                              rng);
  const Matrix<float> x = normal(seq_len, bench::d_model, 1.0f, rng);

  for (auto _ : state) {
    auto y = encoding(x);
    benchmark::DoNotOptimize(y.data());
  }

  // One addition a number; bound by memory, which reads x and writes the sum: the tables stay in the cache.
  state.counters["flop/s"] = bench::rate(double(seq_len * bench::d_model));
  state.counters["byte/s"] = bench::bandwidth(2.0 * sizeof(float) * double(seq_len * bench::d_model));
  state.SetComplexityN(seq_len);
}
BENCHMARK(axial)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);

}  // namespace
}  // namespace headwise::position
