#include <headwise/mask/key_padding.hpp>

#include "mask/masked_attention.hpp"

#include <vector>

namespace headwise::mask {
namespace {

/// Padding in front, and every 16th key behind it a hole: half of the keys are skipped, the others tested.
void key_padding(benchmark::State& state) {
  const Index seq_len = state.range(0);
  std::vector<bool> real(std::size_t(seq_len), false);
  for (Index key = seq_len / 2; key < seq_len; ++key) real[std::size_t(key)] = key % 16 != 0;
  bench::attend_under(state, KeyPadding(real), seq_len * (seq_len / 2 / 16 * 15));
}
BENCHMARK(key_padding)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);

}  // namespace
}  // namespace headwise::mask
