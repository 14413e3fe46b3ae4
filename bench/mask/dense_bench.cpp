#include <headwise/mask/dense.hpp>

#include "mask/masked_attention.hpp"

#include <utility>

namespace headwise::mask {
namespace {

/// The causal pairs, read from a matrix; compare with the benchmark of Causal.
void dense(benchmark::State& state) {
  const Index seq_len = state.range(0);
  Matrix<bool> allowed(seq_len, seq_len);
  for (Index query = 0; query < seq_len; ++query)
    for (Index key = 0; key < seq_len; ++key) allowed(query, key) = key <= query;
  bench::attend_under(state, Dense(std::move(allowed)), bench::triangle(seq_len));
}
BENCHMARK(dense)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);

}  // namespace
}  // namespace headwise::mask
