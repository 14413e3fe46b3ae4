#include <headwise/mask/blockwise.hpp>

#include "mask/masked_attention.hpp"

namespace headwise::mask {
namespace {

/// Three blocks, each of which sees the next.
void blockwise(benchmark::State& state) {
  const Index seq_len = state.range(0), blocks = 3;
  const Blockwise mask = Blockwise::shifted(blocks, {1});
  const Index size = mask.block_size(seq_len), last = seq_len - 2 * size;
  bench::attend_under(state, mask, size * size + 2 * size * last);
}
BENCHMARK(blockwise)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);  // a third of dense

}  // namespace
}  // namespace headwise::mask
