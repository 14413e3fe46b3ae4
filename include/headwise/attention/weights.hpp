#pragma once

#include <headwise/attention/attend.hpp>

#include <algorithm>
#include <type_traits>

namespace headwise {

namespace attention {

/// visit(i, j, score) for the visible pairs of one head of one sequence.
template <class Scalar, class BoundMask, class BoundScore, class Visit>
void for_each_score(const kernel::Problem<Scalar>& p, Index sequence, Index head, const BoundMask& mask,
                    const BoundScore& score, Visit&& visit) {
  const kernel::Geometry g = p.geometry(sequence);
  const auto query = kernel::head_view(p.query, sequence, p.query_rows[sequence].begin, head);
  const auto key = kernel::head_view(p.key, sequence, p.key_rows[sequence].begin, p.kv_head(head));
  for (Index i = 0; i < g.q_len; ++i) {
    for (Index j = 0; j < g.k_len; ++j) {
      if (!headwise::allows(mask, g.query(i), g.key(j))) continue;
      Scalar dot(0);
      for (Index x = 0; x < p.head_dim; ++x) dot += p.scale * query(i, x) * key(j, x);
      visit(i, j, headwise::apply(score, dot, g.query(i), g.key(j)));
    }
  }
}

/// [heads * q_rows, longest k_len]: for each sequence, for each head, one row a query. place(row of query,
/// head, score) makes the number of a visible pair; the others are `hidden`.
template <class Scalar, class Mask, class Score, class Place>
Matrix<Scalar> pairs_of(const kernel::Problem<Scalar>& problem, const Mask& mask, const Score& score,
                        Scalar hidden, Place&& place) {
  Index longest = 0;
  for (Index s = 0; s < problem.sequences(); ++s) longest = std::max(longest, problem.key_rows[s].size());
  Matrix<Scalar> result = Matrix<Scalar>::Constant(problem.heads * problem.query.rows, longest, hidden);
  Index row = 0;
  for (Index s = 0; s < problem.sequences(); ++s) {
    const Range rows = problem.query_rows[s];
    for (Index head = 0; head < problem.heads; ++head, row += rows.size()) {
      const Context context = problem.context(s, head);
      for_each_score(
          problem, s, head, bind_mask(mask, context), bind_score<Scalar>(score, context),
          [&](Index i, Index j, Scalar x) { result(row + i, j) = place(rows.begin + i, head, x); });
    }
  }
  return result;
}

}  // namespace attention

/// The attention weights themselves, for those who want to look at them: with attention_scores the only verb
/// that forms q_len x k_len numbers.
///
///     exp(score(scale * query key^T) - lse), zero where the mask hides
///
/// query [q_rows, heads * head_dim], key [k_rows, kv_heads * head_dim] -> [heads * q_rows, longest k_len]:
/// for each sequence, for each head, one row a query; columns past a shorter sequence's keys are zero.
/// Dropout is not applied. Throws ShapeError as attend. Cost: O(heads q_len k_len head_dim), in plain loops.
template <RealMatrix Q, RealMatrix K, MaskPolicy Mask = mask::None,
          ComputableScore<scalar_of<Q>> Score = score::None>
requires SameScalar<Q, K> Matrix<scalar_of<Q>> attention_weights(const Q& query, const K& key,
                                                                 const AttendOptions& options = {},
                                                                 const Mask& mask = {},
                                                                 const Score& score = {}) {
  using Scalar = scalar_of<Q>;
  const auto& q = kernel::in_place(query);
  const auto& k = kernel::in_place(key);
  const Matrix<Scalar> no_value(key.rows(), 0);
  const Index heads = attention::head_count(options.heads);
  const Index kv_heads = attention::head_count(attention::detail::kv_heads_of(options));
  const auto problem =
      attention::make_problem(kernel::operand(q, heads), kernel::operand(k, kv_heads),
                              kernel::operand(no_value, kv_heads), options, mask, score, "attention_weights");
  const Matrix<Scalar> lse = attention::attend_problem(problem, mask, score).lse;
  return attention::pairs_of(problem, mask, score, Scalar(0), [&lse](Index row, Index head, Scalar x) {
    return kernel::is_seen(x) ? math::exp(x - lse(row, head)) : Scalar(0);
  });
}

/// The scores that the softmax is taken of.
///
///     score(scale * query key^T), minus infinity where the mask hides
///
/// Leave out mask and score to see scale * query key^T alone. Shapes, errors and cost as attention_weights;
/// columns past a shorter sequence's keys are minus infinity.
template <RealMatrix Q, RealMatrix K, MaskPolicy Mask = mask::None,
          ComputableScore<scalar_of<Q>> Score = score::None>
requires SameScalar<Q, K> Matrix<scalar_of<Q>> attention_scores(const Q& query, const K& key,
                                                                const AttendOptions& options = {},
                                                                const Mask& mask = {},
                                                                const Score& score = {}) {
  using Scalar = scalar_of<Q>;
  const auto& q = kernel::in_place(query);
  const auto& k = kernel::in_place(key);
  const Matrix<Scalar> no_value(key.rows(), 0);
  const Index heads = attention::head_count(options.heads);
  const Index kv_heads = attention::head_count(attention::detail::kv_heads_of(options));
  const auto problem =
      attention::make_problem(kernel::operand(q, heads), kernel::operand(k, kv_heads),
                              kernel::operand(no_value, kv_heads), options, mask, score, "attention_scores");
  return attention::pairs_of(problem, mask, score, kernel::hidden<Scalar>(),
                             [](Index, Index, Scalar x) { return x; });
}

}  // namespace headwise
