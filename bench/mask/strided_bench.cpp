#include <headwise/mask/algebra.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/strided.hpp>

#include "mask/planned_attention.hpp"

#include <cmath>

namespace headwise::mask {
namespace {

/// The stride grows with the square root of the length, as in the paper.
Index stride_for(Index seq_len) { return Index(std::lround(std::sqrt(double(seq_len)))); }

void strided(benchmark::State& state) {
  const Index seq_len = state.range(0), stride = stride_for(seq_len);
  bench::attend_over_plan(state, plans_of(Strided{stride}, seq_len), Causal{},
                          bench::causal_class_pairs(seq_len, stride));
}
BENCHMARK(strided)->Apply(bench::sequence_lengths)->Complexity([](benchmark::IterationCount n) {
  return std::pow(double(n), 1.5);
});  // the paper's claim

/// The same pairs without the plan: tiles that hold one are computed whole.
void strided_without_plan(benchmark::State& state) {
  const Index seq_len = state.range(0), stride = stride_for(seq_len);
  bench::attend_under(state, Strided{stride} && Causal{}, bench::causal_class_pairs(seq_len, stride));
}
BENCHMARK(strided_without_plan)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);

}  // namespace
}  // namespace headwise::mask
