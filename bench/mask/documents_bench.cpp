#include <headwise/mask/documents.hpp>

#include "mask/masked_attention.hpp"

#include <vector>

namespace headwise::mask {
namespace {

/// Documents of 256 tokens, as many as fit.
std::vector<TokenId> packed(Index seq_len, Index document) {
  std::vector<TokenId> ids;
  for (Index row = 0; row < seq_len; ++row) ids.push_back(TokenId(row / document));
  return ids;
}

void documents(benchmark::State& state) {
  const Index seq_len = state.range(0), document = 256;
  bench::attend_under(state, Documents(packed(seq_len, document)), seq_len * document);
}
BENCHMARK(documents)->Apply(bench::sequence_lengths)->Complexity(benchmark::oN);

/// The same pairs, found without runs: all tiles are judged, which is quadratic with a small constant.
void scattered_documents(benchmark::State& state) {
  const Index seq_len = state.range(0), document = 256;
  bench::attend_under(state, ScatteredDocuments(packed(seq_len, document)), seq_len * document);
}
BENCHMARK(scattered_documents)->Apply(bench::sequence_lengths)->Complexity(benchmark::oAuto);

}  // namespace
}  // namespace headwise::mask
