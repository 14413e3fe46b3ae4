#pragma once

#include <headwise/attention/attend.hpp>
#include <headwise/core/parameter.hpp>
#include <headwise/kernel/fused_backward.hpp>

#include <vector>

namespace headwise {

/// What backward returns: one gradient for each argument, and one for each learned matrix of the score, in
/// the order in which the score visits its operands.
template <class Scalar>
struct AttendGradients {
  Matrix<Scalar> query, key, value;
  std::vector<Matrix<Scalar>> learned;
};

/// A score with a derivative that backward can use.
template <class S, class Scalar>
concept DifferentiableScore = ComputableScore<S, Scalar> &&
    has_pull_back<decltype(bind_score<Scalar>(std::declval<const S&>(), std::declval<const Context&>())),
                  Scalar>();

namespace attention {

template <class Scalar, class Score>
std::vector<Matrix<Scalar>> zero_gradients(const Score& score) {
  std::vector<Matrix<Scalar>> learned;
  headwise::for_each_operand(score, [&](const auto& operand) {
    learned.push_back(Matrix<Scalar>::Zero(operand.rows(), operand.cols()));
  });
  return learned;
}

/// The body of every form of `attend_backward`, compiled once for (Scalar, Mask, Score). d_lse may be empty.
template <class Scalar, class Mask, class Score>
AttendGradients<Scalar> attend_backward_operands(
    kernel::Operand<const Scalar> query, kernel::Operand<const Scalar> key,
    kernel::Operand<const Scalar> value, kernel::Operand<const Scalar> output,
    const ConstMatrixRef<Scalar>& lse, kernel::Operand<const Scalar> d_output,
    const ConstMatrixRef<Scalar>& d_lse, const AttendOptions& options, const Mask& mask, const Score& score,
    const Plans* plans = nullptr) {
  auto problem = make_problem(query, key, value, options, mask, score, "attend_backward");
  if (plans != nullptr) use_plans(problem, *plans);
  const Index columns = problem.heads * problem.value_dim;
  expect_equal("attend_backward: output rows", output.rows, query.rows, "pass what attend_with_lse returned");
  expect_equal("attend_backward: output columns", output.cols, columns, "pass what attend_with_lse returned");
  expect_equal("attend_backward: lse rows", lse.rows(), query.rows, "pass what attend_with_lse returned");
  expect_equal("attend_backward: lse columns", lse.cols(), problem.heads, "one a head");
  expect_equal("attend_backward: d_output rows", d_output.rows, query.rows, "the shape of output");
  expect_equal("attend_backward: d_output columns", d_output.cols, columns, "the shape of output");
  if (d_lse.size() > 0 || d_lse.rows() > 0) {
    expect_equal("attend_backward: d_lse rows", d_lse.rows(), query.rows, "the shape of lse");
    expect_equal("attend_backward: d_lse columns", d_lse.cols(), problem.heads, "the shape of lse");
  }

  AttendGradients<Scalar> gradients;
  gradients.query = Matrix<Scalar>::Zero(query.rows, query.cols);
  gradients.key = Matrix<Scalar>::Zero(key.rows, key.cols);
  gradients.value = Matrix<Scalar>::Zero(value.rows, value.cols);
  gradients.learned = zero_gradients<Scalar>(score);
  const kernel::BackwardTerms<Scalar> terms{output,
                                            d_output,
                                            lse,
                                            d_lse,
                                            kernel::writable_operand(gradients.query, problem.heads),
                                            kernel::writable_operand(gradients.key, problem.kv_heads),
                                            kernel::writable_operand(gradients.value, problem.kv_heads)};
  kernel::backward(problem, mask, score, terms, std::span<Matrix<Scalar>>(gradients.learned));
  return gradients;
}

template <class Q, class K, class V, class D, class Mask, class Score>
AttendGradients<scalar_of<Q>> attend_backward_matrices(const Q& query, const K& key, const V& value,
                                                       const Attended<scalar_of<Q>>& attended,
                                                       const D& d_output, const Matrix<scalar_of<Q>>& d_lse,
                                                       const AttendOptions& options, const Mask& mask,
                                                       const Score& score, const Plans* plans = nullptr) {
  const auto& q = kernel::in_place(query);
  const auto& k = kernel::in_place(key);
  const auto& v = kernel::in_place(value);
  const auto& d = kernel::in_place(d_output);
  const Index heads = head_count(options.heads), kv_heads = head_count(detail::kv_heads_of(options));
  return attend_backward_operands<scalar_of<Q>>(
      kernel::operand(q, heads), kernel::operand(k, kv_heads), kernel::operand(v, kv_heads),
      kernel::operand(attended.output, heads), attended.lse, kernel::operand(d, heads), d_lse, options, mask,
      score, plans);
}

}  // namespace attention

/// The gradients of sum(output * d_output) for one call of attend_with_lse, whose result is `attended`.
///
///     D = rowsum(output * d_output),   P = exp(score - lse),   dS = P * (d_output value^T - D)
///     d_value = P^T d_output,   d_query = scale dS key,   d_key = scale dS^T query     (dS through the
///     score)
///
/// Shapes as in attend_with_lse; d_output as output, and any Eigen expression. Options, mask and score must
/// be those of the forward call; dropout draws the same factors again. `learned` holds the gradients of the
/// score's operands. Masked pairs get exactly zero. Throws ShapeError before any work.
/// Cost: 2.5 times forward; memory O(rows * head_dim), never q_len * k_len.
/// Paper: Dao et al., "FlashAttention", 2022, algorithm 4.
template <RealMatrix Q, RealMatrix K, RealMatrix V, RealMatrix D, MaskPolicy Mask,
          DifferentiableScore<scalar_of<Q>> Score>
requires SameScalar<Q, K, V, D> AttendGradients<scalar_of<Q>> attend_backward(
    const Q& query, const K& key, const V& value, const Attended<scalar_of<Q>>& attended, const D& d_output,
    const AttendOptions& options, const Mask& mask, const Score& score) {
  return attention::attend_backward_matrices(query, key, value, attended, d_output, {}, options, mask, score);
}

template <RealMatrix Q, RealMatrix K, RealMatrix V, RealMatrix D, MaskPolicy Mask>
requires SameScalar<Q, K, V, D> AttendGradients<scalar_of<Q>> attend_backward(
    const Q& query, const K& key, const V& value, const Attended<scalar_of<Q>>& attended, const D& d_output,
    const AttendOptions& options, const Mask& mask) {
  return attention::attend_backward_matrices(query, key, value, attended, d_output, {}, options, mask,
                                             score::None{});
}

template <RealMatrix Q, RealMatrix K, RealMatrix V, RealMatrix D>
requires SameScalar<Q, K, V, D> AttendGradients<scalar_of<Q>> attend_backward(
    const Q& query, const K& key, const V& value, const Attended<scalar_of<Q>>& attended, const D& d_output,
    const AttendOptions& options) {
  return attention::attend_backward_matrices(query, key, value, attended, d_output, {}, options, mask::None{},
                                             score::None{});
}

template <RealMatrix Q, RealMatrix K, RealMatrix V, RealMatrix D, MaskPolicy Mask,
          DifferentiableScore<scalar_of<Q>> Score>
requires SameScalar<Q, K, V, D> AttendGradients<scalar_of<Q>> attend_backward(
    const Q& query, const K& key, const V& value, const Attended<scalar_of<Q>>& attended, const D& d_output,
    const Mask& mask, const Score& score) {
  return attention::attend_backward_matrices(query, key, value, attended, d_output, {}, AttendOptions{}, mask,
                                             score);
}

template <RealMatrix Q, RealMatrix K, RealMatrix V, RealMatrix D, MaskPolicy Mask>
requires SameScalar<Q, K, V, D> AttendGradients<scalar_of<Q>> attend_backward(
    const Q& query, const K& key, const V& value, const Attended<scalar_of<Q>>& attended, const D& d_output,
    const Mask& mask) {
  return attention::attend_backward_matrices(query, key, value, attended, d_output, {}, AttendOptions{}, mask,
                                             score::None{});
}

template <RealMatrix Q, RealMatrix K, RealMatrix V, RealMatrix D>
requires SameScalar<Q, K, V, D> AttendGradients<scalar_of<Q>> attend_backward(
    const Q& query, const K& key, const V& value, const Attended<scalar_of<Q>>& attended, const D& d_output) {
  return attention::attend_backward_matrices(query, key, value, attended, d_output, {}, AttendOptions{},
                                             mask::None{}, score::None{});
}

/// The same for a loss that also reads the log-sum-exp: upstream = {d_output, d_lse}, gradients of
/// sum(output * d_output) + sum(lse * d_lse).
template <RealMatrix Q, RealMatrix K, RealMatrix V, MaskPolicy Mask = mask::None,
          DifferentiableScore<scalar_of<Q>> Score = score::None>
requires SameScalar<Q, K, V> AttendGradients<scalar_of<Q>> attend_backward(
    const Q& query, const K& key, const V& value, const Attended<scalar_of<Q>>& attended,
    const Attended<scalar_of<Q>>& upstream, const AttendOptions& options = {}, const Mask& mask = {},
    const Score& score = {}) {
  return attention::attend_backward_matrices(query, key, value, attended, upstream.output, upstream.lse,
                                             options, mask, score);
}

/// The gradients of attend_over.
template <RealMatrix Q, RealMatrix K, RealMatrix V, RealMatrix D, MaskPolicy Mask = mask::None,
          DifferentiableScore<scalar_of<Q>> Score = score::None>
requires SameScalar<Q, K, V, D> AttendGradients<scalar_of<Q>> attend_over_backward(
    const Plans& plans, const Q& query, const K& key, const V& value, const Attended<scalar_of<Q>>& attended,
    const D& d_output, const AttendOptions& options = {}, const Mask& mask = {}, const Score& score = {}) {
  return attention::attend_backward_matrices(query, key, value, attended, d_output, {}, options, mask, score,
                                             &plans);
}

}  // namespace headwise
