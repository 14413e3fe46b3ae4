#include <headwise/score/t5_bias.hpp>

#include "score/scored_attention.hpp"

namespace headwise::score {
namespace {

void t5_bias(benchmark::State& state) {
  Rng rng(2);
  bench::attend_with(state, T5Bias(normal(32, 1, 1.0f, rng), {.direction = T5Direction::causal}));
}
BENCHMARK(t5_bias)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);

}  // namespace
}  // namespace headwise::score
