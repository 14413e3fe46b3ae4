#include <headwise/mask/dilated_window.hpp>

#include "mask/planned_attention.hpp"

namespace headwise::mask {
namespace {

/// 64 tokens on each side, every fourth one.
constexpr DilatedWindow window{.reach = 64, .dilation = 4};

Index dilated_pairs(Index seq_len) {
  Index pairs = 0;
  for (Index i = 0; i < seq_len; ++i)
    pairs += 1 + std::min(window.reach, i / window.dilation) +
             std::min(window.reach, (seq_len - 1 - i) / window.dilation);
  return pairs;
}

void dilated_window(benchmark::State& state) {
  const Index seq_len = state.range(0);
  bench::attend_over_plan(state, plans_of(window, seq_len), window.window(), dilated_pairs(seq_len));
}
BENCHMARK(dilated_window)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);  // the paper's claim

/// The same pairs without the plan: tiles that hold one are computed whole.
void dilated_window_without_plan(benchmark::State& state) {
  bench::attend_under(state, window, dilated_pairs(state.range(0)));
}
BENCHMARK(dilated_window_without_plan)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);

}  // namespace
}  // namespace headwise::mask
