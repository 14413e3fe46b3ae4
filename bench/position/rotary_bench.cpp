#include <headwise/core/random.hpp>
#include <headwise/position/rotary.hpp>

#include "support/sweep.hpp"

namespace headwise::position {
namespace {

constexpr Index heads = 8, head_dim = 64;

/// Six FLOPs turn the two numbers of a pair.
double flops(Index seq_len) { return 3.0 * double(seq_len * heads * head_dim); }

void rotate_query(benchmark::State& state, Pairing pairing) {
  const Index seq_len = state.range(0);
  Rng rng(1);
  const auto table = Rotary({.head_dim = head_dim, .pairing = pairing}).table<float>(consecutive(seq_len));
  Matrix<float> query = normal(seq_len, heads * head_dim, 1.0f, rng);

  for (auto _ : state) {
    rotate_into(query, table, heads, query);
    benchmark::DoNotOptimize(query.data());
  }

  state.counters["flop/s"] = bench::rate(flops(seq_len));
  state.counters["byte/s"] = bench::bandwidth(2.0 * sizeof(float) * double(query.size()));
  state.SetComplexityN(seq_len);
}
BENCHMARK_CAPTURE(rotate_query, half_split, Pairing::half_split)
    ->Apply(bench::sequence_lengths)
    ->Complexity(benchmark::oN);
BENCHMARK_CAPTURE(rotate_query, interleaved, Pairing::interleaved)
    ->Apply(bench::sequence_lengths)
    ->Complexity(benchmark::oN);

/// The sines and cosines, which all layers and heads of a forward pass share.
void rotary_table(benchmark::State& state) {
  const Index seq_len = state.range(0);
  const Rotary rotary({.head_dim = head_dim});
  const auto positions = consecutive(seq_len);

  for (auto _ : state) {
    auto table = rotary.table<float>(positions);
    benchmark::DoNotOptimize(table.cosines.data());
  }

  // A sine and a cosine, counted as one FLOP each, for each of head_dim / 2 pairs.
  state.counters["flop/s"] = bench::rate(double(seq_len * head_dim));
  state.SetComplexityN(seq_len);
}
BENCHMARK(rotary_table)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);

}  // namespace
}  // namespace headwise::position
