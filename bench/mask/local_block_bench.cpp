#include <headwise/mask/algebra.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/local_block.hpp>

#include "mask/masked_attention.hpp"

namespace headwise::mask {
namespace {

/// The causal form: each block sees the one before it, and itself as far as it is written.
void local_block(benchmark::State& state) {
  const Index seq_len = state.range(0), block = 256;
  bench::attend_under(state, LocalBlock{.query_block = block, .memory = block} && Causal{},
                      (seq_len - block) * block + seq_len / block * bench::triangle(block));
}
BENCHMARK(local_block)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);  // the paper's claim

}  // namespace
}  // namespace headwise::mask
