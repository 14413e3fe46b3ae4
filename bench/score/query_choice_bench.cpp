#include <headwise/attention/label_scores.hpp>
#include <headwise/mask/documents.hpp>
#include <headwise/score/query_choice.hpp>

#include "score/scored_attention.hpp"

#include <utility>
#include <vector>

namespace headwise::score {
namespace {

/// Two numbers a query: for its own of sixteen interleaved documents, and for the others.
void query_choice(benchmark::State& state) {
  const Index seq_len = state.range(0);
  Rng rng(2);
  std::vector<TokenId> ids;
  for (Index i = 0; i < seq_len; ++i) ids.push_back(TokenId(i % 16));
  bench::attend_with(state, QueryChoice(normal(seq_len, 2, 1.0f, rng), mask::ScatteredDocuments(ids, ids)));
}
BENCHMARK(query_choice)->Apply(bench::quadratic_lengths)->Complexity(benchmark::oNSquared);

}  // namespace
}  // namespace headwise::score
