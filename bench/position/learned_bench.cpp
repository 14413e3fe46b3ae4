#include <headwise/core/random.hpp>
#include <headwise/position/learned.hpp>

#include "support/sweep.hpp"

namespace headwise::position {
namespace {

void learned(benchmark::State& state) {
  const Index seq_len = state.range(0);
  Rng rng(1);
  const Learned encoding({.max_len = seq_len, .d_model = bench::d_model}, rng);
  const Matrix<float> x = normal(seq_len, bench::d_model, 1.0f, rng);

  for (auto _ : state) {
    auto y = encoding(x);
    benchmark::DoNotOptimize(y.data());
  }

  // One addition a number; bound by memory, which reads x and the table and writes the sum.
  state.counters["flop/s"] = bench::rate(double(seq_len * bench::d_model));
  state.counters["byte/s"] = bench::bandwidth(3.0 * sizeof(float) * double(seq_len * bench::d_model));
  state.SetComplexityN(seq_len);
}
BENCHMARK(learned)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);

void learned_backward(benchmark::State& state) {
  const Index seq_len = state.range(0);
  Rng rng(1);
  const Matrix<float> d_output = normal(seq_len, bench::d_model, 1.0f, rng);
  const auto positions = consecutive(seq_len);

  for (auto _ : state) {
    auto d_table = add_positions_backward(d_output, positions, seq_len);
    benchmark::DoNotOptimize(d_table.data());
  }

  state.counters["flop/s"] = bench::rate(double(seq_len * bench::d_model));
  state.counters["byte/s"] = bench::bandwidth(3.0 * sizeof(float) * double(seq_len * bench::d_model));
  state.SetComplexityN(seq_len);
}
BENCHMARK(learned_backward)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);

}  // namespace
}  // namespace headwise::position
