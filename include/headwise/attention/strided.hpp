#pragma once

#include <headwise/attention/attend.hpp>
#include <headwise/attention/merge.hpp>
#include <headwise/attention/plans.hpp>
#include <headwise/mask/algebra.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/sliding_window.hpp>
#include <headwise/mask/strided.hpp>

#include <utility>

namespace headwise {

namespace attention {

/// The two halves of the merged head, and what both are called with. No pair is in both.
template <class Mask>
struct StridedHalves {
  using Near = decltype(mask::SlidingWindow{} && std::declval<Mask>());
  using Far = decltype((mask::Causal{} && !mask::SlidingWindow{}) && std::declval<Mask>());

  Near near;
  Far far;
  Plans classes;

  /// Throws ShapeError for a stride below 1, or when keys are not the queries' own rows.
  StridedHalves(Index stride, Index q_rows, Index k_rows, const AttendOptions& options, const Mask& extra)
      : near(mask::SlidingWindow{.width = stride} && extra),
        far((mask::Causal{} && !mask::SlidingWindow{.width = stride}) && extra),
        classes(plans_of(mask::Strided{stride}, options.query_rows.over(q_rows, "attend_strided: query"))) {
    expect_equal("attend_strided: key rows", k_rows, q_rows, "a strided head is self-attention");
    if (!options.query_offset && options.query_positions.empty() && options.key_rows.whole()) return;
    throw ShapeError(
        "attend_strided: query_offset, positions or key_rows are given, expected none of them; the strided "
        "classes are classes of rows");
  }
};

}  // namespace attention

/// The Sparse Transformer's strided pattern with both halves in one head: the last `stride` tokens, and every
/// stride-th one before them, in one softmax.
///
///     keys of i:  {j : 0 <= i - j < stride}  united with  {j <= i : (i - j) mod stride = 0}
///
/// Equal to attend under SlidingWindow{stride} || (Strided{stride} && Causal{}), which has to compute whole
/// tiles for single pairs. Here the second set is gathered class by class, without the pairs of the first,
/// and the two results are merged by their log-sum-exp. Arguments as attend_with_lse, with `mask` hiding
/// more. Cost: O(seq_len (stride + seq_len / stride)) pairs, O(seq_len^1.5) for stride = sqrt(seq_len).
/// Throws ShapeError for a stride below 1, and when queries and keys are not the same rows; a sink does not
/// compile. Paper: Child et al., "Generating Long Sequences with Sparse Transformers", 2019, sections 4.2
/// and 4.3.
template <RealMatrix Q, RealMatrix K, RealMatrix V, MaskPolicy Mask = mask::None,
          ComputableScore<scalar_of<Q>> Score = score::None>
requires SameScalar<Q, K, V> Attended<scalar_of<Q>> attend_strided(Index stride, const Q& query, const K& key,
                                                                   const V& value,
                                                                   const AttendOptions& options = {},
                                                                   const Mask& mask = {},
                                                                   const Score& score = {}) {
  static_assert(attention::joins_one_softmax<scalar_of<Q>, Score>(),
                "attend_strided merges two softmaxes, and a sink would count in both");
  const attention::StridedHalves<Mask> halves(stride, query.rows(), key.rows(), options, mask);
  return merge(attend_with_lse(query, key, value, options, halves.near, score),
               attend_over(halves.classes, query, key, value, options, halves.far, score));
}

}  // namespace headwise
