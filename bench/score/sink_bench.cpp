#include <headwise/score/sink.hpp>

#include "score/scored_attention.hpp"

namespace headwise::score {
namespace {

void sink(benchmark::State& state) { bench::attend_with(state, Sink(Matrix<float>::Zero(1, 1).eval())); }
BENCHMARK(sink)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);

}  // namespace
}  // namespace headwise::score
