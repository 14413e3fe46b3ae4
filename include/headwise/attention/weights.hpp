#pragma once

#include <headwise/attention/attend.hpp>

#include <algorithm>
#include <type_traits>

namespace headwise {

namespace attention {

/// The weights of one head of one sequence, pair by pair, into a block of `out`.
template <class Scalar, class BoundMask, class BoundScore>
void write_weights(const kernel::Problem<Scalar>& p, Index sequence, Index head, const BoundMask& mask,
                   const BoundScore& score, const Matrix<Scalar>& lse,
                   std::type_identity_t<MatrixRef<Scalar>> out) {
  const kernel::Geometry g = p.geometry(sequence);
  const Range rows = p.query_rows[sequence];
  const auto query = kernel::head_view(p.query, sequence, rows.begin, head);
  const auto key = kernel::head_view(p.key, sequence, p.key_rows[sequence].begin, p.kv_head(head));
  for (Index i = 0; i < g.q_len; ++i) {
    for (Index j = 0; j < g.k_len; ++j) {
      if (!headwise::allows(mask, g.query(i), g.key(j))) continue;
      Scalar dot(0);
      for (Index x = 0; x < p.head_dim; ++x) dot += p.scale * query(i, x) * key(j, x);
      const Scalar s = headwise::apply(score, dot, g.query(i), g.key(j));
      if (kernel::is_seen(s)) out(i, j) = math::exp(s - lse(rows.begin + i, head));
    }
  }
}

}  // namespace attention

/// The attention weights themselves, for those who want to look at them: the only verb that forms q_len x
/// k_len numbers.
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
  const auto value = kernel::operand(no_value, kv_heads);
  const auto q_operand = kernel::operand(q, heads), k_operand = kernel::operand(k, kv_heads);
  const Matrix<Scalar> lse =
      attention::attend_operands(q_operand, k_operand, value, options, mask, score).lse;

  const auto problem = attention::make_problem(q_operand, k_operand, value, options, mask, score);
  Index longest = 0;
  for (Index s = 0; s < problem.sequences(); ++s) longest = std::max(longest, problem.key_rows[s].size());
  Matrix<Scalar> weights = Matrix<Scalar>::Zero(problem.heads * query.rows(), longest);
  Index row = 0;
  for (Index s = 0; s < problem.sequences(); ++s) {
    const Index q_len = problem.query_rows[s].size();
    for (Index head = 0; head < problem.heads; ++head, row += q_len) {
      const Context context = problem.context(s, head);
      attention::write_weights(problem, s, head, bind_mask(mask, context), bind_score<Scalar>(score, context),
                               lse, weights.middleRows(row, q_len));
    }
  }
  return weights;
}

}  // namespace headwise
