#include <headwise/core/math.hpp>
#include <headwise/score/function.hpp>

#include "score/scored_attention.hpp"

namespace headwise::score {
namespace {

/// A branch-free lambda with a logarithm.
void function(benchmark::State& state) {
  const auto recency = score::function([](auto s, Position query, Position key) {
    using S = decltype(s);
    return s - math::log(S(1) + S(query - key));
  });
  bench::attend_with(state, recency);
}
BENCHMARK(function)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);

}  // namespace
}  // namespace headwise::score
