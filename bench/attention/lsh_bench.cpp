#include <headwise/attention/lsh.hpp>
#include <headwise/core/random.hpp>
#include <headwise/mask/causal.hpp>

#include "support/sweep.hpp"

#include <cmath>

namespace headwise {
namespace {

/// One round of chunks of 64, one before; hashing, sorting and plans included. The hash takes two factors, so
/// that its cost per token grows with the square root of the length rather than with the length.
void lsh(benchmark::State& state) {
  const Index seq_len = state.range(0), head_dim = 64, chunk_len = 64;
  Rng rng(1);
  const auto x = normal(seq_len, head_dim, 1.0f, rng), value = normal(seq_len, head_dim, 1.0f, rng);
  const auto rotations =
      lsh_rotations<float>({.factors = lsh_factors(seq_len, chunk_len), .head_dim = head_dim});

  for (auto _ : state) {
    auto result =
        attend_lsh(x, value, lsh_buckets(x, rotations), {.chunk_len = chunk_len}, {}, mask::Causal{});
    benchmark::DoNotOptimize(result.output.data());
  }

  // Every chunk looks at itself and the one before, at most; the hash is seq_len rotations.
  const double pairs = double(seq_len * 2 * chunk_len - chunk_len * chunk_len);
  const double hash = 2.0 * double(seq_len * head_dim * rotations.values.cols());
  state.counters["pairs"] = pairs;
  state.counters["flop/s"] = bench::rate(4.0 * double(head_dim) * pairs + hash);
  state.SetComplexityN(seq_len);
}
BENCHMARK(lsh)->Apply(bench::sequence_lengths)->Complexity(benchmark::oNLogN);  // the paper's claim

}  // namespace
}  // namespace headwise
