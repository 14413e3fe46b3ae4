#include <headwise/mask/sliding_window.hpp>

#include "mask/masked_attention.hpp"

namespace headwise::mask {
namespace {

/// The first tokens see fewer than `width`, all others exactly that many.
void sliding_window(benchmark::State& state) {
  const Index seq_len = state.range(0), width = 256;
  bench::attend_under(state, SlidingWindow{.width = width}, seq_len * width - bench::triangle(width - 1));
}
BENCHMARK(sliding_window)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);  // the paper's claim

}  // namespace
}  // namespace headwise::mask
