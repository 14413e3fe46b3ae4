#include <headwise/mask/big_bird.hpp>
#include <headwise/mask/none.hpp>

#include "mask/planned_attention.hpp"

namespace headwise::mask {
namespace {

constexpr Index block_size = 64, random = 3;

BigBird bird_of(Index seq_len) {
  return BigBird(
      RandomBlocks::draw({.block_size = block_size, .blocks = seq_len / block_size, .random = random}));
}

/// Two global rows, two rows of 4 + random blocks, all others 5 + random.
Index big_bird_pairs(Index seq_len) {
  const Index n = seq_len / block_size;
  return (2 * n + 2 * (4 + random) + (n - 4) * (5 + random)) * block_size * block_size;
}

void big_bird(benchmark::State& state) {
  const Index seq_len = state.range(0);
  bench::attend_over_plan(state, plans_of(bird_of(seq_len), seq_len), None{}, big_bird_pairs(seq_len));
}
BENCHMARK(big_bird)
    ->RangeMultiplier(2)
    ->Range(1024, 16384)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN);  // the paper's claim

/// The same pairs as a mask: nothing is listed beforehand.
void big_bird_without_plan(benchmark::State& state) {
  bench::attend_under(state, bird_of(state.range(0)), big_bird_pairs(state.range(0)));
}
BENCHMARK(big_bird_without_plan)
    ->RangeMultiplier(2)
    ->Range(1024, 16384)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oAuto);

}  // namespace
}  // namespace headwise::mask
