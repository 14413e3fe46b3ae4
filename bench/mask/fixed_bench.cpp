#include <headwise/mask/causal.hpp>
#include <headwise/mask/fixed.hpp>

#include "mask/planned_attention.hpp"

#include <cmath>

namespace headwise::mask {
namespace {

/// The merged head: own block and one summary of each block before it. The block grows with the square root
/// of the length, as in the paper.
void fixed(benchmark::State& state) {
  const Index seq_len = state.range(0), stride = Index(std::lround(std::sqrt(double(seq_len))));
  Plans plans;
  plans.plans.push_back(Fixed{.stride = stride, .summaries = 1}.plan_with_own_block(seq_len));
  Index pairs = 0;
  for (Index begin = 0; begin < seq_len; begin += stride) {
    const Index size = std::min(stride, seq_len - begin);
    pairs += bench::triangle(size) + size * (begin / stride);
  }
  bench::attend_over_plan(state, plans, Causal{}, pairs);
}
BENCHMARK(fixed)->Apply(bench::sequence_lengths)->Complexity([](benchmark::IterationCount n) {
  return std::pow(double(n), 1.5);  // the paper's claim
});

}  // namespace
}  // namespace headwise::mask
