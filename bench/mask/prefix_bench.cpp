#include <headwise/mask/algebra.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/prefix.hpp>

#include "mask/masked_attention.hpp"

namespace headwise::mask {
namespace {

/// A prefix language model: the first `length` queries see the prefix, the others all before them.
void prefix(benchmark::State& state) {
  const Index seq_len = state.range(0), length = 128;
  bench::attend_under(state, Prefix{.length = length} || Causal{},
                      bench::triangle(seq_len) + length * length - bench::triangle(length));
}
BENCHMARK(prefix)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);

/// Every query sees the prefix alone.
void prefix_only(benchmark::State& state) {
  const Index length = 128;
  bench::attend_under(state, Prefix{.length = length}, state.range(0) * length);
}
BENCHMARK(prefix_only)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);

}  // namespace
}  // namespace headwise::mask
