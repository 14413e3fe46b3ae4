#include <headwise/attention/explain.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/none.hpp>
#include <headwise/mask/sliding_window.hpp>

#include "report/attention_calls.hpp"

namespace headwise::report {

namespace {

template <class Mask>
TileUse explain_mask(Pattern pattern, Index seq_len, const Mask& mask) {
  const AttentionShape shape{.q_len = seq_len, .k_len = seq_len, .head_dim = head_dim};
  const Explanation e = explain<float>(shape, {.heads = 1}, mask);
  return {pattern,         seq_len,      e.pairs,        e.computed_pairs, e.tiles.skipped,
          e.tiles.partial, e.tiles.full, e.tile_queries, e.tile_keys,      e.instruction_set};
}

}  // namespace

TileUse explain_pattern(Pattern pattern, Index seq_len) {
  switch (pattern) {
    case Pattern::dense:
      return explain_mask(pattern, seq_len, mask::None{});
    case Pattern::causal:
    case Pattern::alibi:
      return explain_mask(pattern, seq_len, mask::Causal{});
    case Pattern::windowed:
      return explain_mask(pattern, seq_len, mask::SlidingWindow{.width = window_width});
  }
  return {};
}

}  // namespace headwise::report
