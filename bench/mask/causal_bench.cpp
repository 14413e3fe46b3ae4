#include <headwise/mask/causal.hpp>

#include "mask/masked_attention.hpp"

namespace headwise::mask {
namespace {

void causal(benchmark::State& state) {
  bench::attend_under(state, Causal{}, bench::triangle(state.range(0)));
}
BENCHMARK(causal)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);  // the paper's claim

}  // namespace
}  // namespace headwise::mask
