#include <headwise/score/none.hpp>

#include "score/scored_attention.hpp"

namespace headwise::score {
namespace {

void none(benchmark::State& state) { bench::attend_with(state, None{}); }
BENCHMARK(none)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);

}  // namespace
}  // namespace headwise::score
