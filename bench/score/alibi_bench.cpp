#include <headwise/score/alibi.hpp>

#include "score/scored_attention.hpp"

namespace headwise::score {
namespace {

void alibi(benchmark::State& state) { bench::attend_with(state, Alibi{1}); }
BENCHMARK(alibi)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);

}  // namespace
}  // namespace headwise::score
