#pragma once

#include <headwise/attention/attend_backward.hpp>
#include <headwise/attention/strided.hpp>

namespace headwise {

/// The gradients of sum(output * d_output) for attend_strided, whose result is `attended`. Both halves run
/// with the log-sum-exp of the whole, so their gradients add up. Arguments and errors as attend_strided.
template <RealMatrix Q, RealMatrix K, RealMatrix V, RealMatrix D, MaskPolicy Mask = mask::None,
          DifferentiableScore<scalar_of<Q>> Score = score::None>
requires SameScalar<Q, K, V, D> AttendGradients<scalar_of<Q>> attend_strided_backward(
    Index stride, const Q& query, const K& key, const V& value, const Attended<scalar_of<Q>>& attended,
    const D& d_output, const AttendOptions& options = {}, const Mask& mask = {}, const Score& score = {}) {
  static_assert(attention::joins_one_softmax<scalar_of<Q>, Score>(),
                "attend_strided merges two softmaxes, and a sink would count in both");
  const attention::StridedHalves<Mask> halves(stride, query.rows(), key.rows(), options, mask);
  auto sum = attend_backward(query, key, value, attended, d_output, options, halves.near, score);
  const auto far =
      attend_over_backward(halves.classes, query, key, value, attended, d_output, options, halves.far, score);
  sum.query += far.query;
  sum.key += far.key;
  sum.value += far.value;
  for (std::size_t i = 0; i < sum.learned.size(); ++i) sum.learned[i] += far.learned[i];
  return sum;
}

}  // namespace headwise
