#include <headwise/core/error.hpp>

#include "report/sparse.hpp"
#include "report/sparse_sizes.hpp"

#include <algorithm>
#include <cmath>

namespace headwise::report {

namespace {

constexpr Index triangle(Index n) { return n * (n + 1) / 2; }

/// The last `stride` tokens, and of each class of tokens all pairs but those of a token with itself.
Index strided_pairs(Index seq_len) {
  const Index stride = root_of(seq_len);
  Index count = seq_len * stride - triangle(stride - 1) - seq_len;
  for (Index rest = 0; rest < stride; ++rest) count += triangle((seq_len - rest + stride - 1) / stride);
  return count;
}

/// The own block up to the query, and one summary of each block before.
Index fixed_pairs(Index seq_len) {
  const Index stride = root_of(seq_len);
  Index count = 0;
  for (Index begin = 0; begin < seq_len; begin += stride) {
    const Index size = std::min(stride, seq_len - begin);
    count += triangle(size) + size * (begin / stride);
  }
  return count;
}

Index longformer_pairs(Index seq_len) {
  Index count = global_tokens * seq_len;
  for (Index i = global_tokens; i < seq_len; ++i)
    count += global_tokens + std::min(i + reach, seq_len - 1) - std::max(i - reach, global_tokens) + 1;
  return count;
}

/// Two global rows of blocks, two that have a global block within their window, and all others.
Index big_bird_pairs(Index seq_len) {
  const Index n = seq_len / block_size;
  return (2 * n + 2 * (4 + random_blocks) + (n - 4) * (5 + random_blocks)) * block_size * block_size;
}

/// A chunk and its two neighbours, of which the chunks at the ends lack one; no token sees itself.
Index lsh_pairs(Index seq_len) {
  const Index chunks = seq_len / chunk_len;
  return (3 * chunks - 2) * chunk_len * chunk_len - seq_len;
}

struct Facts {
  std::string_view name, meaning, promise;
  SparsePattern full;
};

Facts facts_of(SparsePattern pattern) {
  switch (pattern) {
    case SparsePattern::dense:
      return {"dense", "every token sees every token", "L^2", SparsePattern::dense};
    case SparsePattern::causal:
      return {"causal", "itself and all before it", "L^2", SparsePattern::causal};
    case SparsePattern::strided:
      return {"Strided", "the last √L tokens, and every √L-th before", "L^1.5", SparsePattern::causal};
    case SparsePattern::fixed:
      return {"Fixed", "the own block of √L tokens, and the last token of each block before", "L^1.5",
              SparsePattern::causal};
    case SparsePattern::routing:
      return {"Routing", "√L clusters of √L tokens, causal within each", "L^1.5", SparsePattern::causal};
    case SparsePattern::blockwise:
      return {"Blockwise", "4 blocks, each sees the next", "L^2", SparsePattern::dense};
    case SparsePattern::longformer:
      return {"Longformer", "128 tokens on each side, 16 global tokens", "L", SparsePattern::dense};
    case SparsePattern::big_bird:
      return {"Big Bird", "blocks of 64: a window of 3, 2 global, 3 random", "L", SparsePattern::dense};
    case SparsePattern::lsh:
      return {"LSH", "one round of hashing, chunks of 64 and their neighbours", "L log L",
              SparsePattern::dense};
  }
  return {};
}

}  // namespace

Index root_of(Index seq_len) { return Index(std::lround(std::sqrt(double(seq_len)))); }

std::string_view name_of(SparsePattern pattern) { return facts_of(pattern).name; }
std::string_view meaning_of(SparsePattern pattern) { return facts_of(pattern).meaning; }
std::string_view promise_of(SparsePattern pattern) { return facts_of(pattern).promise; }
SparsePattern full_attention_of(SparsePattern pattern) { return facts_of(pattern).full; }

Index pairs(SparsePattern pattern, Index seq_len) {
  if (seq_len < 512 || seq_len % 64 != 0)
    fail_shape("pairs: seq_len", std::to_string(seq_len), "a multiple of 64, 512 or more");
  switch (pattern) {
    case SparsePattern::dense:
      return seq_len * seq_len;
    case SparsePattern::causal:
      return triangle(seq_len);
    case SparsePattern::strided:
      return strided_pairs(seq_len);
    case SparsePattern::fixed:
      return fixed_pairs(seq_len);
    case SparsePattern::routing:
      return root_of(seq_len) * triangle(seq_len / root_of(seq_len));
    case SparsePattern::blockwise:
      return seq_len * (seq_len / blocks);
    case SparsePattern::longformer:
      return longformer_pairs(seq_len);
    case SparsePattern::big_bird:
      return big_bird_pairs(seq_len);
    case SparsePattern::lsh:
      return lsh_pairs(seq_len);
  }
  return 0;
}

double promised_cost(SparsePattern pattern, Index seq_len) {
  const std::string_view promise = promise_of(pattern);
  const double length = double(seq_len);
  if (promise == "L^2") return length * length;
  if (promise == "L^1.5") return length * std::sqrt(length);
  return promise == "L log L" ? length * std::log(length) : length;
}

}  // namespace headwise::report
