#pragma once

#include <headwise/attention/attend_backward.hpp>
#include <headwise/interop/eigen_tensor.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace headwise {

/// What backward of tensors returns: one gradient for each tensor, in its kind, and one for each learned
/// matrix of the score, in the order in which the score visits its operands.
template <TokensOfTensor Q, TokensOfTensor K, TokensOfTensor V>
struct AttendTensorGradients {
  typename Q::Tensor query;
  typename K::Tensor key;
  typename V::Tensor value;
  std::vector<Matrix<scalar_of<Q>>> learned;
};

namespace interop {

/// A tensor of zeros of the shape that x has.
template <class X>
typename X::Tensor zeros_like(const X& x) {
  auto tensor = make_tensor<X>(x.batch, x.tokens, std::max<Index>(x.heads, 1), x.head_dim);
  set_zero<scalar_of<X>>(tokens_view(tensor, typename X::Axes{}));
  return tensor;
}

/// The body of every form of `attend_backward` on tensors. d_lse may be empty.
template <class Q, class K, class V, class Mask, class Score, class Scalar>
AttendTensorGradients<Q, K, V> attend_backward_tensors(const Q& query, const K& key, const V& value,
                                                       const AttendedTensor<typename Q::Tensor>& attended,
                                                       const TokensView<const Scalar>& d_output,
                                                       const Matrix<Scalar>& d_lse,
                                                       const AttendOptions& options, const Mask& mask,
                                                       const Score& score) {
  const attention::Border border{"attend_backward"};
  const TokensView<const Scalar> q = query.read_only(), k = key.read_only(), v = value.read_only();
  const AttendOptions settled = settled_options(border, q, k, v, options);
  const Index heads = settled.heads, kv_heads = attention::detail::kv_heads_of(settled);
  const auto problem = attention::make_problem(operand(q, heads), operand(k, kv_heads), operand(v, kv_heads),
                                               settled, mask, score, border.verb);
  const TokensView<const Scalar> output = tokens_view(attended.output, typename Q::Axes{}).read_only();
  check_output(border, "output", output, q, problem);
  check_output(border, "d_output", d_output, q, problem);
  const Index rows = q.batch * q.tokens;
  expect_equal("attend_backward: lse rows", attended.lse.rows(), rows, "pass what attend_with_lse returned");
  expect_equal("attend_backward: lse columns", attended.lse.cols(), heads,
               "pass what attend_with_lse returned");
  if (d_lse.rows() > 0 || d_lse.cols() > 0) {
    expect_equal("attend_backward: d_lse rows", d_lse.rows(), rows, "the shape of lse");
    expect_equal("attend_backward: d_lse columns", d_lse.cols(), heads, "the shape of lse");
  }

  AttendTensorGradients<Q, K, V> gradients{zeros_like(query), zeros_like(key), zeros_like(value),
                                           attention::zero_gradients<Scalar>(score)};
  const auto writable = [](auto& tensor, auto axes, Index n) {
    return operand<Scalar>(tokens_view(tensor, axes), n);
  };
  const kernel::BackwardTerms<Scalar> terms{operand(output, heads),
                                            operand(d_output, heads),
                                            attended.lse,
                                            d_lse,
                                            writable(gradients.query, typename Q::Axes{}, heads),
                                            writable(gradients.key, typename K::Axes{}, kv_heads),
                                            writable(gradients.value, typename V::Axes{}, kv_heads)};
  kernel::backward(problem, mask, score, terms, std::span<Matrix<Scalar>>(gradients.learned));
  return gradients;
}

/// True for what may follow the options of a backward call.
template <class Scalar, class... Policies>
inline constexpr bool have_pull_backs = are_policies<Scalar, Policies...>;
template <class Scalar, class Mask, class Score>
inline constexpr bool have_pull_backs<Scalar, Mask, Score> =
    MaskPolicy<Mask>&& DifferentiableScore<Score, Scalar>;

}  // namespace interop

/// What may follow the options of a backward call: nothing, a mask, or a mask and a score with its
/// derivative.
template <class Scalar, class... Policies>
concept DifferentiablePoliciesOf =
    PoliciesOf<Scalar, Policies...> && interop::have_pull_backs<Scalar, Policies...>;

/// The gradients of sum(output * d_output) for one call of attend_with_lse on tensors, whose result is
/// `attended`.
///
/// d_output has the shape of the output, in any layout. Each gradient is a tensor like its argument; options,
/// mask and score must be those of the forward call. The numbers are those of `attend_backward` on the same
/// stacked rows. Throws ShapeError before any work. Cost and paper as attend_backward.
template <TokensOfTensor Q, TokensOfTensor K, TokensOfTensor V, Tokens D, class... Policies>
requires SameScalar<Q, K, V, D> && DifferentiablePoliciesOf<scalar_of<Q>, Policies...>
    AttendTensorGradients<Q, K, V> attend_backward(const Q& query, const K& key, const V& value,
                                                   const AttendedTensor<typename Q::Tensor>& attended,
                                                   const D& d_output, const AttendOptions& options,
                                                   const Policies&... policies) {
  const auto body = [&](const auto& mask, const auto& score) {
    return interop::attend_backward_tensors(query, key, value, attended, d_output.read_only(),
                                            Matrix<scalar_of<Q>>(), options, mask, score);
  };
  return interop::with_policies(body, policies...);
}

template <TokensOfTensor Q, TokensOfTensor K, TokensOfTensor V, Tokens D, class... Policies>
requires SameScalar<Q, K, V, D> && DifferentiablePoliciesOf<scalar_of<Q>, Policies...>
    AttendTensorGradients<Q, K, V> attend_backward(const Q& query, const K& key, const V& value,
                                                   const AttendedTensor<typename Q::Tensor>& attended,
                                                   const D& d_output, const Policies&... policies) {
  return headwise::attend_backward(query, key, value, attended, d_output, AttendOptions{}, policies...);
}

/// The same with a gradient of the log-sum-exp: d_attended holds {d_output, d_lse}.
template <TokensOfTensor Q, TokensOfTensor K, TokensOfTensor V, class... Policies>
requires SameScalar<Q, K, V> && DifferentiablePoliciesOf<scalar_of<Q>, Policies...>
    AttendTensorGradients<Q, K, V> attend_backward(const Q& query, const K& key, const V& value,
                                                   const AttendedTensor<typename Q::Tensor>& attended,
                                                   const AttendedTensor<typename Q::Tensor>& d_attended,
                                                   const AttendOptions& options,
                                                   const Policies&... policies) {
  const auto body = [&](const auto& mask, const auto& score) {
    return interop::attend_backward_tensors(query, key, value, attended,
                                            tokens_view(d_attended.output, typename Q::Axes{}).read_only(),
                                            d_attended.lse, options, mask, score);
  };
  return interop::with_policies(body, policies...);
}

template <TokensOfTensor Q, TokensOfTensor K, TokensOfTensor V, class... Policies>
requires SameScalar<Q, K, V> && DifferentiablePoliciesOf<scalar_of<Q>, Policies...>
    AttendTensorGradients<Q, K, V> attend_backward(const Q& query, const K& key, const V& value,
                                                   const AttendedTensor<typename Q::Tensor>& attended,
                                                   const AttendedTensor<typename Q::Tensor>& d_attended,
                                                   const Policies&... policies) {
  return headwise::attend_backward(query, key, value, attended, d_attended, AttendOptions{}, policies...);
}

}  // namespace headwise
