#include <headwise/mask/random_blocks.hpp>

#include "mask/masked_attention.hpp"

namespace headwise::mask {
namespace {

/// Three random blocks of 32 for each block of 32, but for the two at the ends.
void random_blocks(benchmark::State& state) {
  const Index seq_len = state.range(0), size = 32, blocks = seq_len / size;
  bench::attend_under(state, RandomBlocks::draw({.block_size = size, .blocks = blocks, .random = 3}),
                      (blocks - 2) * 3 * size * size);
}
BENCHMARK(random_blocks)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);  // the paper's claim

}  // namespace
}  // namespace headwise::mask
