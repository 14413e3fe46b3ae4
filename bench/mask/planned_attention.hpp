#pragma once

#include <headwise/attention/attend.hpp>
#include <headwise/attention/plans.hpp>
#include <headwise/core/random.hpp>

#include "mask/masked_attention.hpp"

/// What the benchmarks of patterns with plans share: one head of self-attention over a plan that was made
/// before, and its work counted in pairs.
namespace bench {

template <headwise::MaskPolicy Mask>
void attend_over_plan(benchmark::State& state, const headwise::Plans& plans, const Mask& rest,
                      headwise::Index pairs, const headwise::AttendOptions& options = {}) {
  const headwise::Index seq_len = state.range(0), head_dim = 64;
  headwise::Rng rng(1);
  const auto query = headwise::normal(seq_len, head_dim, 1.0f, rng);
  const auto key = headwise::normal(seq_len, head_dim, 1.0f, rng);
  const auto value = headwise::normal(seq_len, head_dim, 1.0f, rng);

  for (auto _ : state) {
    auto output = headwise::attend_over(plans, query, key, value, options, rest).output;
    benchmark::DoNotOptimize(output.data());
  }

  // Two products, the score and the weighted value, of 2 head_dim FLOPs a pair.
  state.counters["pairs"] = double(pairs);
  state.counters["flop/s"] = rate(4.0 * double(head_dim) * double(pairs));
  state.SetComplexityN(seq_len);
}

/// The pairs of strided classes under Causal: each class of n tokens has triangle(n).
constexpr headwise::Index causal_class_pairs(headwise::Index seq_len, headwise::Index stride) {
  headwise::Index pairs = 0;
  for (headwise::Index r = 0; r < stride && r < seq_len; ++r)
    pairs += triangle((seq_len - r + stride - 1) / stride);
  return pairs;
}

}  // namespace bench
