#pragma once

#include <headwise/attention/attend.hpp>
#include <headwise/core/random.hpp>

#include "support/sweep.hpp"

/// What the benchmarks of all masks share: one head of self-attention, and its work counted in pairs.
namespace bench {

template <headwise::MaskPolicy Mask>
void attend_under(benchmark::State& state, const Mask& mask, headwise::Index pairs) {
  const headwise::Index seq_len = state.range(0), head_dim = 64;
  headwise::Rng rng(1);
  const auto query = headwise::normal(seq_len, head_dim, 1.0f, rng);
  const auto key = headwise::normal(seq_len, head_dim, 1.0f, rng);
  const auto value = headwise::normal(seq_len, head_dim, 1.0f, rng);

  for (auto _ : state) {
    auto output = headwise::attend(query, key, value, mask);
    benchmark::DoNotOptimize(output.data());
  }

  // Two products, the score and the weighted value, of 2 head_dim FLOPs a pair that the mask allows.
  state.counters["pairs"] = double(pairs);
  state.counters["flop/s"] = rate(4.0 * double(head_dim) * double(pairs));
  state.SetComplexityN(seq_len);
}

/// 1 + 2 + ... + n.
constexpr headwise::Index triangle(headwise::Index n) { return n * (n + 1) / 2; }

}  // namespace bench
