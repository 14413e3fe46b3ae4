#pragma once

#include <headwise/attention/mistakes.hpp>
#include <headwise/attention/problem.hpp>
#include <headwise/kernel/fused_attention.hpp>
#include <headwise/mask/none.hpp>
#include <headwise/score/none.hpp>

#include <concepts>
#include <type_traits>

namespace headwise {

/// What attention returns: output [q_rows, heads * value_dim] and the natural logarithm of each softmax's
/// sum, lse [q_rows, heads]. A query that sees no key has zeros and -inf.
template <class Scalar>
struct Attended {
  Matrix<Scalar> output;
  Matrix<Scalar> lse;
};

namespace attention {

/// Attention of a problem that the border has let pass.
template <class Scalar, class Mask, class Score>
Attended<Scalar> attend_problem(const kernel::Problem<Scalar>& problem, const Mask& mask,
                                const Score& score) {
  const Index rows = problem.query.rows;
  Attended<Scalar> result;
  result.output.resize(rows, problem.heads * problem.value_dim);
  result.lse = Matrix<Scalar>::Constant(rows, problem.heads, kernel::hidden<Scalar>());
  kernel::forward(
      problem, mask, score,
      kernel::ForwardResult<Scalar>{kernel::writable_operand(result.output, problem.heads), result.lse});
  return result;
}

/// The body of every form of `attend`, compiled once for (Scalar, Mask, Score).
template <class Scalar, class Mask, class Score>
Attended<Scalar> attend_operands(kernel::Operand<const Scalar> query, kernel::Operand<const Scalar> key,
                                 kernel::Operand<const Scalar> value, const AttendOptions& options,
                                 const Mask& mask, const Score& score, const Plans* plans = nullptr) {
  auto problem = make_problem(query, key, value, options, mask, score);
  if (plans != nullptr) use_plans(problem, *plans);
  return attend_problem(problem, mask, score);
}

/// Columns of one head, for strides; a nonsense head count is left for the border to name.
inline Index head_count(Index heads) noexcept { return heads > 0 ? heads : 1; }

template <class Q, class K, class V, class Mask, class Score>
Attended<scalar_of<Q>> attend_matrices(const Q& query, const K& key, const V& value,
                                       const AttendOptions& options, const Mask& mask, const Score& score,
                                       const Plans* plans = nullptr) {
  const auto& q = kernel::in_place(query);
  const auto& k = kernel::in_place(key);
  const auto& v = kernel::in_place(value);
  const Index heads = head_count(options.heads), kv_heads = head_count(detail::kv_heads_of(options));
  return attend_operands(kernel::operand(q, heads), kernel::operand(k, kv_heads),
                         kernel::operand(v, kv_heads), options, mask, score, plans);
}

}  // namespace attention

/// Attention, with the log-sum-exp of every row: what backward and the merging of partial results need.
///
///     output = softmax(score(scale * query key^T), where mask allows) value,   lse = log sum exp of the same
///     scores
///
/// query [q_rows, heads * head_dim], key [k_rows, kv_heads * head_dim], value [k_rows, kv_heads * value_dim]
/// -> output [q_rows, heads * value_dim], lse [q_rows, heads]. Query head h reads key-value head
/// h / (heads / kv_heads). Any Eigen matrix, map, block or expression; only true expressions are copied.
/// Throws ShapeError, before any work, when shapes, options and policies do not fit each other.
/// Cost: 2 (head_dim + value_dim) FLOPs a visible pair and head; memory O(rows * head_dim), never q_len *
/// k_len. Papers: Vaswani et al., "Attention Is All You Need", 2017, equation 1; Dao et al.,
/// "FlashAttention", 2022, algorithm 1.
template <RealMatrix Q, RealMatrix K, RealMatrix V, MaskPolicy Mask, ComputableScore<scalar_of<Q>> Score>
requires SameScalar<Q, K, V> Attended<scalar_of<Q>> attend_with_lse(const Q& query, const K& key,
                                                                    const V& value,
                                                                    const AttendOptions& options,
                                                                    const Mask& mask, const Score& score) {
  return attention::attend_matrices(query, key, value, options, mask, score);
}

template <RealMatrix Q, RealMatrix K, RealMatrix V, MaskPolicy Mask>
requires SameScalar<Q, K, V> Attended<scalar_of<Q>> attend_with_lse(const Q& query, const K& key,
                                                                    const V& value,
                                                                    const AttendOptions& options,
                                                                    const Mask& mask) {
  return attention::attend_matrices(query, key, value, options, mask, score::None{});
}

template <RealMatrix Q, RealMatrix K, RealMatrix V>
requires SameScalar<Q, K, V> Attended<scalar_of<Q>> attend_with_lse(const Q& query, const K& key,
                                                                    const V& value,
                                                                    const AttendOptions& options) {
  return attention::attend_matrices(query, key, value, options, mask::None{}, score::None{});
}

template <RealMatrix Q, RealMatrix K, RealMatrix V, MaskPolicy Mask, ComputableScore<scalar_of<Q>> Score>
requires SameScalar<Q, K, V> Attended<scalar_of<Q>> attend_with_lse(const Q& query, const K& key,
                                                                    const V& value, const Mask& mask,
                                                                    const Score& score) {
  return attention::attend_matrices(query, key, value, AttendOptions{}, mask, score);
}

template <RealMatrix Q, RealMatrix K, RealMatrix V, MaskPolicy Mask>
requires SameScalar<Q, K, V> Attended<scalar_of<Q>> attend_with_lse(const Q& query, const K& key,
                                                                    const V& value, const Mask& mask) {
  return attention::attend_matrices(query, key, value, AttendOptions{}, mask, score::None{});
}

template <RealMatrix Q, RealMatrix K, RealMatrix V>
requires SameScalar<Q, K, V> Attended<scalar_of<Q>> attend_with_lse(const Q& query, const K& key,
                                                                    const V& value) {
  return attention::attend_matrices(query, key, value, AttendOptions{}, mask::None{}, score::None{});
}

/// Attention: which keys may I see (mask), how do scores change (score), and the weighted sum of the values.
///
///     softmax(score(scale * query key^T), where mask allows) value
///
/// Shapes, cost, errors and papers as attend_with_lse, whose output it returns: [q_rows, heads * value_dim].
template <RealMatrix Q, RealMatrix K, RealMatrix V, MaskPolicy Mask, ComputableScore<scalar_of<Q>> Score>
requires SameScalar<Q, K, V> Matrix<scalar_of<Q>> attend(const Q& query, const K& key, const V& value,
                                                         const AttendOptions& options, const Mask& mask,
                                                         const Score& score) {
  return attention::attend_matrices(query, key, value, options, mask, score).output;
}

template <RealMatrix Q, RealMatrix K, RealMatrix V, MaskPolicy Mask>
requires SameScalar<Q, K, V> Matrix<scalar_of<Q>> attend(const Q& query, const K& key, const V& value,
                                                         const AttendOptions& options, const Mask& mask) {
  return attention::attend_matrices(query, key, value, options, mask, score::None{}).output;
}

template <RealMatrix Q, RealMatrix K, RealMatrix V>
requires SameScalar<Q, K, V> Matrix<scalar_of<Q>> attend(const Q& query, const K& key, const V& value,
                                                         const AttendOptions& options) {
  return attention::attend_matrices(query, key, value, options, mask::None{}, score::None{}).output;
}

template <RealMatrix Q, RealMatrix K, RealMatrix V, MaskPolicy Mask, ComputableScore<scalar_of<Q>> Score>
requires SameScalar<Q, K, V> Matrix<scalar_of<Q>> attend(const Q& query, const K& key, const V& value,
                                                         const Mask& mask, const Score& score) {
  return attention::attend_matrices(query, key, value, AttendOptions{}, mask, score).output;
}

template <RealMatrix Q, RealMatrix K, RealMatrix V, MaskPolicy Mask>
requires SameScalar<Q, K, V> Matrix<scalar_of<Q>> attend(const Q& query, const K& key, const V& value,
                                                         const Mask& mask) {
  return attention::attend_matrices(query, key, value, AttendOptions{}, mask, score::None{}).output;
}

template <RealMatrix Q, RealMatrix K, RealMatrix V>
requires SameScalar<Q, K, V> Matrix<scalar_of<Q>> attend(const Q& query, const K& key, const V& value) {
  return attention::attend_matrices(query, key, value, AttendOptions{}, mask::None{}, score::None{}).output;
}

/// Calls whose types do not fit: they do not compile, and the compiler says what to write.
template <class Q, class K, class V, class... Policies>
requires attention::Mistaken<Q, K, V, Policies...> Matrix<scalar_of<Q>> attend(const Q&, const K&, const V&,
                                                                               const AttendOptions&,
                                                                               const Policies&...) {
  attention::refuse<Q, K, V, Policies...>();
  return {};
}
template <class Q, class K, class V, class... Policies>
requires attention::Mistaken<Q, K, V, Policies...> Matrix<scalar_of<Q>> attend(const Q&, const K&, const V&,
                                                                               const Policies&...) {
  attention::refuse<Q, K, V, Policies...>();
  return {};
}
template <class Q, class K, class V, class... Policies>
requires attention::Mistaken<Q, K, V, Policies...> Attended<scalar_of<Q>> attend_with_lse(
    const Q&, const K&, const V&, const AttendOptions&, const Policies&...) {
  attention::refuse<Q, K, V, Policies...>();
  return {};
}
template <class Q, class K, class V, class... Policies>
requires attention::Mistaken<Q, K, V, Policies...> Attended<scalar_of<Q>> attend_with_lse(
    const Q&, const K&, const V&, const Policies&...) {
  attention::refuse<Q, K, V, Policies...>();
  return {};
}

/// Attention over plans: each query looks at the keys that its items list, where the mask allows. Queries
/// that no item lists see nothing. Otherwise as attend_with_lse; throws ShapeError when a plan names rows
/// that do not exist.
template <RealMatrix Q, RealMatrix K, RealMatrix V, MaskPolicy Mask = mask::None,
          ComputableScore<scalar_of<Q>> Score = score::None>
requires SameScalar<Q, K, V> Attended<scalar_of<Q>> attend_over(const Plans& plans, const Q& query,
                                                                const K& key, const V& value,
                                                                const AttendOptions& options = {},
                                                                const Mask& mask = {},
                                                                const Score& score = {}) {
  return attention::attend_matrices(query, key, value, options, mask, score, &plans);
}

}  // namespace headwise
