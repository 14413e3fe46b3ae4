#include <headwise/attention/explain.hpp>
#include <headwise/attention/longformer.hpp>
#include <headwise/attention/lsh.hpp>
#include <headwise/attention/plans.hpp>
#include <headwise/mask/big_bird.hpp>
#include <headwise/mask/blockwise.hpp>

#include "report/sparse.hpp"
#include "report/sparse_sizes.hpp"

#include <algorithm>
#include <utility>

namespace headwise::report {

namespace {

template <class Mask>
SparseCall masked_call(const Operands& x, const Mask& mask) {
  const Index length = x.query.rows();
  return {[&x, mask] { return attend(x.query, x.key, x.value, mask)(0, 0); },
          [length, mask] { return explain(shape_of(length), {}, mask).pairs; }};
}

SparseCall longformer_call(const Operands& x) {
  const Index length = x.query.rows();
  LongformerPattern pattern{.reach = reach};
  pattern.global.assign(std::size_t(length), false);
  std::fill_n(pattern.global.begin(), global_tokens, true);
  return {[&x, pattern] {
            const LongformerInputs<float> inputs{x.query, x.key, x.value, x.query, x.key, x.value};
            return attend_longformer(inputs, pattern).output(0, 0);
          },
          [length, pattern] {
            const attention::LongformerPlans plans(pattern, RaggedRows::from_lengths({length}));
            const attention::LongformerWindow window(pattern);
            return explain(shape_of(length), {}, window, &plans.local).pairs +
                   explain(shape_of(length), {}, mask::None{}, &plans.global).pairs;
          }};
}

SparseCall big_bird_call(const Operands& x) {
  const Index length = x.query.rows();
  const mask::BigBird bird(mask::RandomBlocks::draw(
      {.block_size = block_size, .blocks = length / block_size, .random = random_blocks}));
  const Plans plans = plans_of(bird, length);
  return {[&x, plans] { return attend_over(plans, x.query, x.key, x.value).output(0, 0); },
          [plans, length] { return explain(shape_of(length), {}, mask::None{}, &plans).pairs; }};
}

/// Hashing and sorting are part of the call.
SparseCall lsh_call(const Operands& x) {
  const Index length = x.query.rows();
  const LshOptions options{.chunk_len = chunk_len, .chunks_after = 1};
  const auto rotations =
      lsh_rotations<float>({.factors = lsh_factors(length, chunk_len), .head_dim = head_dim});
  return {[&x, rotations, options] {
            return attend_lsh(x.query, x.value, lsh_buckets(x.query, rotations), options).output(0, 0);
          },
          [&x, length, rotations, options] {
            const LshChunks chunks(options, lsh_buckets(x.query, rotations),
                                   RaggedRows::from_lengths({length}));
            const Plans plans = chunks.plans(0);
            return explain(shape_of(length), {}, chunks.pairs(0), &plans).pairs;
          }};
}

}  // namespace

SparseCall make_bidirectional_call(SparsePattern pattern, const Operands& x) {
  switch (pattern) {
    case SparsePattern::blockwise:
      return masked_call(x, mask::Blockwise::shifted(blocks, {1}));
    case SparsePattern::longformer:
      return longformer_call(x);
    case SparsePattern::big_bird:
      return big_bird_call(x);
    case SparsePattern::lsh:
      return lsh_call(x);
    default:
      return masked_call(x, mask::None{});
  }
}

}  // namespace headwise::report
