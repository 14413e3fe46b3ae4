#pragma once

#include <headwise/attention/attend.hpp>
#include <headwise/attention/head_norm.hpp>
#include <headwise/attention/lsh_chunks.hpp>
#include <headwise/attention/merge.hpp>
#include <headwise/mask/algebra.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace headwise {

namespace attention {

/// One call of LSH attention: what forward and backward prepare alike.
template <class Scalar, class Mask>
struct LshCall {
  AttendOptions options;
  double key_epsilon;
  Matrix<Scalar> key;
  LshChunks chunks;
  const Mask& mask;

  /// Throws ShapeError when options, buckets or rows do not fit each other.
  template <class Q>
  LshCall(const Q& query, const LshBuckets& buckets, const LshOptions& lsh, const AttendOptions& given,
          const Mask& rest)
      : options(checked(query.cols(), buckets, lsh, given)),
        key_epsilon(lsh.epsilon * double(query.cols() / given.heads)),
        key(unit_heads(query, given.heads, key_epsilon)),
        chunks(lsh, buckets, given.query_rows.over(query.rows(), "attend_lsh: query"), given.executor),
        mask(rest) {}

  /// body(mask) with the pairs of one round: the kernel is compiled apart for simple ones.
  template <class Body>
  auto with_pairs(Index round, Body&& body) const {
    using headwise::mask::operator&&;
    if (chunks.hides_self_only(round)) return body(OtherTokens{} && mask);
    if (chunks.has_stored_pairs(round)) return body(chunks.stored_pairs(round) && mask);
    return body(chunks.pairs(round) && mask);
  }

 private:
  static AttendOptions checked(Index cols, const LshBuckets& buckets, const LshOptions& lsh,
                               AttendOptions o) {
    expect_positive("attend_lsh: heads", o.heads);
    expect_multiple("attend_lsh: query columns", cols, o.heads, "heads");
    if (o.kv_heads != 0)
      expect_equal("attend_lsh: kv_heads", o.kv_heads, o.heads, "query and key are one projection");
    expect_equal("attend_lsh: heads of buckets", buckets.heads, o.heads, "every head hashes for itself");
    if (!(lsh.epsilon >= 0)) fail_shape("attend_lsh: epsilon", std::to_string(lsh.epsilon), "zero or more");
    if (o.query_offset || !o.query_positions.empty() || !o.key_rows.whole()) {
      throw ShapeError(
          "attend_lsh: query_offset, positions or key_rows are given, expected none of them; tokens look at "
          "each other, and are sorted by their rows");
    }
    if (!o.scale) o.scale = 1.0;
    return o;
  }
};

/// whole becomes the attention over the keys of both, as merge makes it.
template <class Scalar>
void merge_into(Attended<Scalar>& whole, const Attended<Scalar>& part) {
  const Index heads = whole.lse.cols(), value_dim = whole.output.cols() / heads;
  for (Index row = 0; row < whole.lse.rows(); ++row) {
    for (Index head = 0; head < heads; ++head) {
      Scalar& a = whole.lse(row, head);
      const Scalar b = part.lse(row, head), lse = kernel::log_add(a, b);
      auto output = whole.output.row(row).segment(head * value_dim, value_dim);
      output = kernel::share(a, lse) * output +
               kernel::share(b, lse) * part.output.row(row).segment(head * value_dim, value_dim);
      a = lse;
    }
  }
}

/// True for a query that no round gave a key.
template <class Scalar>
bool is_alone(const Scalar& lse) noexcept {
  return math::real(lse) == -math::infinity<Scalar>;
}

/// body(row, first column) for the heads of all rows that see nobody.
template <class Scalar, class Body>
void for_each_alone(const Matrix<Scalar>& lse, Index value_dim, Body&& body) {
  for (Index row = 0; row < lse.rows(); ++row)
    for (Index head = 0; head < lse.cols(); ++head)
      if (is_alone(lse(row, head))) body(row, head * value_dim);
}

}  // namespace attention

/// LSH attention (Reformer): a token looks at the tokens that a hash puts near it.
///
///     key = query / |query|,   sorted by bucket, cut into chunks
///     o_i = softmax over {j != i : j in the chunks about i, in some round} of scale query_i . key_j, times
///     value_j
///
/// query [n, heads * head_dim] is query and key at once; value [n, heads * value_dim]. Each round is a plan
/// of one item a chunk, and rounds are merged by their log-sum-exp. The scale is 1 when not given: the length
/// of a query is its temperature. A token looks at itself only if it is alone: then its output is its value,
/// and its lse -inf. `mask` hides more pairs by their original rows, Causal above all; it never hides a token
/// from itself. Buckets come from lsh_buckets: integers, to be kept where the call is repeated. Throws
/// ShapeError when heads, rows and buckets do not fit each other; a sink does not compile. Cost: rounds n
/// chunk_len (chunks_before + 1 + chunks_after) pairs a head; sorting is O(n log n) a round. Paper: Kitaev et
/// al., "Reformer: The Efficient Transformer", 2020, section 2.
template <RealMatrix Q, RealMatrix V, MaskPolicy Mask = mask::None,
          ComputableScore<scalar_of<Q>> Score = score::None>
requires SameScalar<Q, V> Attended<scalar_of<Q>> attend_lsh(const Q& query, const V& value,
                                                            const LshBuckets& buckets, const LshOptions& lsh,
                                                            const AttendOptions& options = {},
                                                            const Mask& mask = {}, const Score& score = {}) {
  using Scalar = scalar_of<Q>;
  static_assert(attention::joins_one_softmax<Scalar, Score>(),
                "attend_lsh merges softmaxes, and a sink would count in each");
  const attention::LshCall<Scalar, Mask> call(query, buckets, lsh, options, mask);
  const auto of_round = [&](Index round) {
    return call.with_pairs(round, [&](const auto& pairs) {
      return attend_over(call.chunks.plans(round), query, call.key, value, call.options, pairs, score);
    });
  };
  Attended<Scalar> whole = of_round(0);
  for (Index round = 1; round < call.chunks.rounds(); ++round) attention::merge_into(whole, of_round(round));
  const Index value_dim = value.cols() / options.heads;
  attention::for_each_alone(whole.lse, value_dim, [&](Index row, Index at) {
    whole.output.row(row).segment(at, value_dim) = value.row(row).segment(at, value_dim);
  });
  return whole;
}

}  // namespace headwise
