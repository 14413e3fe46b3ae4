#include <headwise/score/soft_cap.hpp>

#include "score/scored_attention.hpp"

namespace headwise::score {
namespace {

void soft_cap(benchmark::State& state) { bench::attend_with(state, SoftCap{.limit = 30}); }
BENCHMARK(soft_cap)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);

}  // namespace
}  // namespace headwise::score
