#include <headwise/mask/causal.hpp>
#include <headwise/mask/local_block_2d.hpp>

#include "mask/planned_attention.hpp"

namespace headwise::mask {
namespace {

/// An image 64 tokens wide in blocks of 8 x 16, its order as positions. The pairs are counted one by one.
void local_block_2d(benchmark::State& state) {
  const Index seq_len = state.range(0);
  const ImageBlocks image{.height = seq_len / 64, .width = 64, .block_height = 8, .block_width = 16};
  const LocalBlock2d local{.image = image, .memory_height = 8, .memory_width = 16};
  const Plans plans = plans_of(local, seq_len);
  const std::vector<Position> ranks = BlockRasterOrder{image}.ranks();
  Index pairs = 0;
  for (const PlanItem& item : plans.plans[0].items)
    for (Index i = 0; i < item.queries.size(); ++i)
      for (Index j = 0; j < item.keys.size(); ++j)
        pairs += ranks[std::size_t(item.keys[j])] <= ranks[std::size_t(item.queries[i])] ? 1 : 0;
  bench::attend_over_plan(state, plans, Causal{}, pairs, {.query_positions = ranks, .key_positions = ranks});
}
BENCHMARK(local_block_2d)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);  // the paper's claim

}  // namespace
}  // namespace headwise::mask
