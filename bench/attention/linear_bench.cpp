#include <headwise/attention/linear_backward.hpp>
#include <headwise/core/random.hpp>

#include "support/sweep.hpp"

#include <utility>

namespace headwise::linear_bench {
namespace {

constexpr Index head_dim = 64;

struct Inputs {
  Matrix<float> query, key, value;
  LinearRule<float> rule;
};

/// One head; keys of about unit length, gates near one.
Inputs inputs_of(Index seq_len, Index decays, Index betas) {
  Rng rng(1);
  Inputs in{normal(seq_len, head_dim, 1.0f, rng),
            normal(seq_len, head_dim, 0.125f, rng),
            normal(seq_len, head_dim, 1.0f, rng),
            {}};
  if (decays > 0) in.rule.decay = -normal(seq_len, decays, 0.1f, rng).cwiseAbs();
  if (betas > 0) in.rule.beta = Matrix<float>::Constant(seq_len, betas, 0.5f);
  return in;
}

/// What chunks cost: reading and writing the state, and the pairs within a chunk, for the queries and, with
/// the delta rule, for the keys as well.
double forward_flops(Index seq_len, Index betas) {
  const double state = 2.0 * double(head_dim * head_dim), tokens = double(seq_len);
  const double pairs = 4.0 * double(head_dim) * double(attention::linear_chunk_len - 1) / 2;
  return tokens * (state + (betas > 0 ? 2 : 1) * (state + pairs));
}

void forward(benchmark::State& state, Index decays, Index betas) {
  const Index seq_len = state.range(0);
  const Inputs in = inputs_of(seq_len, decays, betas);
  for (auto _ : state) {
    auto result = attend_linear(in.query, in.key, in.value, {}, in.rule);
    benchmark::DoNotOptimize(result.data());
  }
  state.counters["flop/s"] = bench::rate(forward_flops(seq_len, betas));
  state.SetComplexityN(seq_len);
}

void linear_sum(benchmark::State& state) { forward(state, 0, 0); }
BENCHMARK(linear_sum)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);

void linear_gated(benchmark::State& state) { forward(state, 1, 0); }
BENCHMARK(linear_gated)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);

void linear_delta(benchmark::State& state) { forward(state, 0, 1); }
BENCHMARK(linear_delta)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);

void linear_gated_delta(benchmark::State& state) { forward(state, 1, 1); }
BENCHMARK(linear_gated_delta)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);

void linear_gated_by_feature(benchmark::State& state) { forward(state, head_dim, 0); }
BENCHMARK(linear_gated_by_feature)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);

void linear_gated_delta_backward(benchmark::State& state) {
  const Index seq_len = state.range(0);
  const Inputs in = inputs_of(seq_len, 1, 1);
  for (auto _ : state) {
    auto result = attend_linear_backward(in.query, in.key, in.value, in.value, {}, in.rule);
    benchmark::DoNotOptimize(result.query.data());
  }
  state.SetComplexityN(seq_len);
}
BENCHMARK(linear_gated_delta_backward)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);

/// One token after another, each with the state that the last one left.
void linear_decode(benchmark::State& state) {
  const Inputs in = inputs_of(1, 1, 1);
  Matrix<float> memory = Matrix<float>::Zero(head_dim, head_dim);
  for (auto _ : state) {
    auto result = attend_linear_with_state(in.query, in.key, in.value, {}, in.rule, memory);
    memory = std::move(result.state);
    benchmark::DoNotOptimize(result.output.data());
  }
  state.counters["flop/s"] = bench::rate(6.0 * double(head_dim * head_dim));
}
BENCHMARK(linear_decode)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace headwise::linear_bench
