#include <headwise/mask/causal.hpp>
#include <headwise/mask/where.hpp>

#include "mask/masked_attention.hpp"

namespace headwise::mask {
namespace {

/// The causal rule as a callable: no tile is skipped. Compare with the benchmark of Causal.
void where_causal(benchmark::State& state) {
  bench::attend_under(state, where([](Index query, Index key) { return key <= query; }),
                      bench::triangle(state.range(0)));
}
BENCHMARK(where_causal)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);

/// The same with a judgement of tiles.
void where_causal_with_coverage(benchmark::State& state) {
  bench::attend_under(state,
                      where([](Index query, Index key) { return key <= query; },
                            [](Tile tile) { return Causal{}.coverage(tile); }),
                      bench::triangle(state.range(0)));
}
BENCHMARK(where_causal_with_coverage)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);

}  // namespace
}  // namespace headwise::mask
