#include <headwise/mask/key_lengths.hpp>

#include "mask/masked_attention.hpp"

namespace headwise::mask {
namespace {

/// Half of the keys are padding; compare with the benchmark of None at half the length.
void key_lengths(benchmark::State& state) {
  const Index seq_len = state.range(0);
  bench::attend_under(state, KeyLengths{.lengths = {seq_len / 2}}, seq_len * (seq_len / 2));
}
BENCHMARK(key_lengths)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);

}  // namespace
}  // namespace headwise::mask
