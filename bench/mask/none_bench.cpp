#include <headwise/mask/none.hpp>

#include "mask/masked_attention.hpp"

namespace headwise::mask {
namespace {

void none(benchmark::State& state) {
  const Index seq_len = state.range(0);
  bench::attend_under(state, None{}, seq_len * seq_len);
}
BENCHMARK(none)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);  // the paper's claim

}  // namespace
}  // namespace headwise::mask
