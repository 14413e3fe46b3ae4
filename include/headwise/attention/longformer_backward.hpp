#pragma once

#include <headwise/attention/attend_backward.hpp>
#include <headwise/attention/longformer.hpp>

namespace headwise {

/// The gradients of Longformer's six projections, and of the learned matrices of the score.
template <class Scalar>
struct LongformerGradients {
  Matrix<Scalar> query, key, value, global_query, global_key, global_value;
  std::vector<Matrix<Scalar>> learned;
};

/// The gradients of sum(output * d_output) for attend_longformer, whose result is `attended`. Arguments and
/// errors as attend_longformer.
template <class Scalar, RealMatrix D, MaskPolicy Mask = mask::None,
          DifferentiableScore<Scalar> Score = score::None>
LongformerGradients<Scalar> attend_longformer_backward(const LongformerInputs<Scalar>& in,
                                                       const LongformerPattern& pattern,
                                                       const Attended<Scalar>& attended, const D& d_output,
                                                       const AttendOptions& options = {},
                                                       const Mask& mask = {}, const Score& score = {}) {
  attention::check_longformer(pattern, options, in.query.rows(), in.key.rows());
  const attention::LongformerPlans plans(pattern,
                                         options.query_rows.over(in.query.rows(), "Longformer: query"));
  const attention::LongformerWindow window(pattern);
  auto local = attend_over_backward(plans.local, in.query, in.key, in.value, attended, d_output, options,
                                    mask::operator&&(window, mask), score);
  auto global = attend_over_backward(plans.global, in.global_query, in.global_key, in.global_value, attended,
                                     d_output, options, mask, score);
  LongformerGradients<Scalar> sum{std::move(local.query),  std::move(local.key),  std::move(local.value),
                                  std::move(global.query), std::move(global.key), std::move(global.value),
                                  std::move(local.learned)};
  for (std::size_t i = 0; i < sum.learned.size(); ++i) sum.learned[i] += global.learned[i];
  return sum;
}

}  // namespace headwise
