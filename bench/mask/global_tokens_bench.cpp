#include <headwise/mask/algebra.hpp>
#include <headwise/mask/band.hpp>
#include <headwise/mask/global_tokens.hpp>

#include "mask/masked_attention.hpp"

namespace headwise::mask {
namespace {

/// Sixteen global tokens in front, and a window of 128 on each side.
void global_tokens(benchmark::State& state) {
  const Index seq_len = state.range(0), global = 16, reach = 128;
  Index pairs = 2 * global * seq_len - global * global;  // global rows and columns
  for (Index i = global; i < seq_len; ++i)               // the window's keys that are not global
    pairs += std::min(i + reach, seq_len - 1) - std::max(i - reach, global) + 1;
  bench::attend_under(state, Band{.left = reach, .right = reach} || GlobalBlocks{.first = global}, pairs);
}
BENCHMARK(global_tokens)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);  // the paper's claim

}  // namespace
}  // namespace headwise::mask
