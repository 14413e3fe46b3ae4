#pragma once

#include <headwise/attention/attend_backward.hpp>
#include <headwise/attention/lsh.hpp>

#include <vector>

namespace headwise {

/// What backward through a shared query and key returns.
template <class Scalar>
struct SharedGradients {
  Matrix<Scalar> query, value;  ///< of `query` as query and as key
  std::vector<Matrix<Scalar>> learned;
};

/// The gradients of sum(output * d_output) for attend_lsh, whose result is `attended`.
///
///     d_query += (d_key - key (key . d_key)) / |query|
///
/// Every round runs with the log-sum-exp of the whole, so their gradients add up. Buckets are constants: hand
/// over those of the forward call. Arguments and errors as attend_lsh.
template <RealMatrix Q, RealMatrix V, RealMatrix D, MaskPolicy Mask = mask::None,
          DifferentiableScore<scalar_of<Q>> Score = score::None>
requires SameScalar<Q, V, D> SharedGradients<scalar_of<Q>> attend_lsh_backward(
    const Q& query, const V& value, const LshBuckets& buckets, const LshOptions& lsh,
    const Attended<scalar_of<Q>>& attended, const D& d_output, const AttendOptions& options = {},
    const Mask& mask = {}, const Score& score = {}) {
  using Scalar = scalar_of<Q>;
  static_assert(attention::joins_one_softmax<Scalar, Score>(),
                "attend_lsh merges softmaxes, and a sink would count in each");
  const attention::LshCall<Scalar, Mask> call(query, buckets, lsh, options, mask);
  const auto of_round = [&](Index round) {
    return call.with_pairs(round, [&](const auto& pairs) {
      return attend_over_backward(call.chunks.plans(round), query, call.key, value, attended, d_output,
                                  call.options, pairs, score);
    });
  };
  AttendGradients<Scalar> sum = of_round(0);
  for (Index round = 1; round < call.chunks.rounds(); ++round) {
    const AttendGradients<Scalar> part = of_round(round);
    sum.query += part.query;
    sum.key += part.key;
    sum.value += part.value;
    for (std::size_t i = 0; i < sum.learned.size(); ++i) sum.learned[i] += part.learned[i];
  }
  const Index value_dim = value.cols() / options.heads;
  attention::for_each_alone(attended.lse, value_dim, [&](Index row, Index at) {
    sum.value.row(row).segment(at, value_dim) += d_output.row(row).segment(at, value_dim);
  });
  sum.query += unit_heads_backward(query, sum.key, options.heads, call.key_epsilon);
  return {std::move(sum.query), std::move(sum.value), std::move(sum.learned)};
}

}  // namespace headwise
