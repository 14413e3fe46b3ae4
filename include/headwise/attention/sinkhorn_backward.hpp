#pragma once

#include <headwise/attention/attend_backward.hpp>
#include <headwise/attention/sinkhorn.hpp>

#include <utility>

namespace headwise {

/// What backward through Sinkhorn attention returns.
template <class Scalar>
struct SinkhornGradients {
  Matrix<Scalar> query, key, value;
  BlockMatrices<Scalar> weights;        ///< for sinkhorn_backward or best_blocks_backward
  Matrix<Scalar> null_key, null_value;  ///< without rows where there was no null block
};

namespace attention {

/// The body of both forms of attend_sinkhorn_backward.
template <class Q, class K, class V, class D, class Mask>
SinkhornGradients<scalar_of<Q>> sinkhorn_gradients(const Q& query, const K& key, const V& value,
                                                   const BlockMatrices<scalar_of<Q>>& weights,
                                                   Index block_len, const Attended<scalar_of<Q>>& attended,
                                                   const D& d_output, SinkhornReach reach,
                                                   const AttendOptions& options, const Mask& mask,
                                                   const NullBlock<scalar_of<Q>>* null) {
  using Scalar = scalar_of<Q>;
  const SinkhornCall<Scalar, Mask> call(query, key, value, weights, block_len, reach, options, mask, null);
  AttendGradients<Scalar> all = attend_over_backward(call.plans(), query, call.key(), call.value(), attended,
                                                     d_output, call.options(), call.pairs());
  SinkhornGradients<Scalar> gradients;
  for (const Matrix<Scalar>& each : weights)
    gradients.weights.push_back(Matrix<Scalar>::Zero(each.rows(), each.cols()));
  gradients.query = std::move(all.query);
  gradients.key = call.pulled_back(key, all.key, gradients.weights);
  gradients.value = call.pulled_back(value, all.value, gradients.weights);
  gradients.null_key = call.pulled_back_to_null(all.key);
  gradients.null_value = call.pulled_back_to_null(all.value);
  return gradients;
}

}  // namespace attention

/// The gradients of sum(output * d_output) for attend_sinkhorn, whose result is `attended`.
///
///     d_K_C += S(B, C) d_K~_B,   d_S(B, C) = d_K~_B . K_C + d_V~_B . V_C
///
/// Arguments and errors as attend_sinkhorn. Where the weights are of block_scores, those gradients come on
/// top.
template <RealMatrix Q, RealMatrix K, RealMatrix V, RealMatrix D, MaskPolicy Mask = mask::None>
requires SameScalar<Q, K, V, D> SinkhornGradients<scalar_of<Q>> attend_sinkhorn_backward(
    const Q& query, const K& key, const V& value, const BlockMatrices<scalar_of<Q>>& weights, Index block_len,
    const Attended<scalar_of<Q>>& attended, const D& d_output,
    SinkhornReach reach = SinkhornReach::own_blocks, const AttendOptions& options = {},
    const Mask& mask = {}) {
  return attention::sinkhorn_gradients(query, key, value, weights, block_len, attended, d_output, reach,
                                       options, mask, nullptr);
}

/// The same for a call with a null block.
template <RealMatrix Q, RealMatrix K, RealMatrix V, RealMatrix D, MaskPolicy Mask, class NullKey,
          class NullValue>
requires SameScalar<Q, K, V, D> SinkhornGradients<scalar_of<Q>> attend_sinkhorn_backward(
    const Q& query, const K& key, const V& value, const BlockMatrices<scalar_of<Q>>& weights, Index block_len,
    const Attended<scalar_of<Q>>& attended, const D& d_output, SinkhornReach reach,
    const AttendOptions& options, const Mask& mask, const NullKey& null_key, const NullValue& null_value) {
  const attention::NullBlock<scalar_of<Q>> null{value_of(null_key), value_of(null_value)};
  return attention::sinkhorn_gradients(query, key, value, weights, block_len, attended, d_output, reach,
                                       options, mask, &null);
}

}  // namespace headwise
