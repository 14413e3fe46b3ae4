#include <headwise/score/alibi.hpp>
#include <headwise/score/chain.hpp>
#include <headwise/score/soft_cap.hpp>

#include "score/scored_attention.hpp"

namespace headwise::score {
namespace {

void chain(benchmark::State& state) { bench::attend_with(state, Alibi{1} >> SoftCap{.limit = 30}); }
BENCHMARK(chain)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);

}  // namespace
}  // namespace headwise::score
