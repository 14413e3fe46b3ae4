#pragma once

#include <headwise/attention/attend.hpp>
#include <headwise/core/random.hpp>
#include <headwise/mask/causal.hpp>

#include "support/sweep.hpp"

/// What the benchmarks of all scores share: one head of causal self-attention. The work counted is that of
/// attention alone, so that what a score costs shows as a lower rate than that of score/none.
namespace bench {

template <class Score>
void attend_with(benchmark::State& state, const Score& score) {
  const headwise::Index seq_len = state.range(0), head_dim = 64;
  headwise::Rng rng(1);
  const auto query = headwise::normal(seq_len, head_dim, 1.0f, rng);
  const auto key = headwise::normal(seq_len, head_dim, 1.0f, rng);
  const auto value = headwise::normal(seq_len, head_dim, 1.0f, rng);

  for (auto _ : state) {
    auto output = headwise::attend(query, key, value, headwise::mask::Causal{}, score);
    benchmark::DoNotOptimize(output.data());
  }

  // Two products, the score and the weighted value, of 2 head_dim FLOPs for each of the visible pairs.
  const double pairs = 0.5 * double(seq_len) * double(seq_len + 1);
  state.counters["pairs"] = pairs;
  state.counters["flop/s"] = rate(4.0 * double(head_dim) * pairs);
  state.SetComplexityN(seq_len);
}

}  // namespace bench
