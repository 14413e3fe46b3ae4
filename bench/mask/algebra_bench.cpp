#include <headwise/mask/algebra.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/prefix.hpp>
#include <headwise/mask/sliding_window.hpp>

#include "mask/masked_attention.hpp"

#include <algorithm>

namespace headwise::mask {
namespace {

/// A causal window, and the first tokens for all: the two runs of a query meet while the window is near them.
void algebra(benchmark::State& state) {
  const Index seq_len = state.range(0), width = 256, first = 64;
  Index pairs = 0;
  for (Index query = 0; query < seq_len; ++query) {
    const Index window_begin = std::max<Index>(0, query - width + 1);
    pairs += query + 1 - window_begin + std::min(first, window_begin);
  }
  bench::attend_under(state, Causal{} && (SlidingWindow{.width = width} || Prefix{.length = first}), pairs);
}
BENCHMARK(algebra)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);

}  // namespace
}  // namespace headwise::mask
