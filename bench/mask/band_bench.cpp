#include <headwise/mask/band.hpp>

#include "mask/masked_attention.hpp"

namespace headwise::mask {
namespace {

/// Near both ends tokens see less than the whole band.
void band(benchmark::State& state) {
  const Index seq_len = state.range(0), reach = 128;
  bench::attend_under(state, Band{.left = reach, .right = reach},
                      seq_len * (2 * reach + 1) - 2 * bench::triangle(reach));
}
BENCHMARK(band)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);  // the paper's claim

}  // namespace
}  // namespace headwise::mask
