#pragma once

#include <headwise/attention/linear_call.hpp>

namespace headwise {

/// What linear attention returns: output [rows, heads * value_dim], and the state after the last token of
/// each sequence, [sequences * kv_heads * head_dim, value_dim], heads of a sequence one under the other.
template <class Scalar>
struct LinearAttended {
  Matrix<Scalar> output;
  Matrix<Scalar> state;
};

namespace attention {

/// The body of every form of `attend_linear`, compiled once a scalar.
template <class Scalar>
LinearAttended<Scalar> attend_linear_matrices(const ConstMatrixRef<Scalar>& query,
                                              const ConstMatrixRef<Scalar>& key,
                                              const ConstMatrixRef<Scalar>& value,
                                              const LinearOptions& options, const LinearRule<Scalar>& rule,
                                              const Matrix<Scalar>& first) {
  using Call = LinearCall<Scalar>;
  const Call call(query, key, value, options, rule, first);
  const Index value_dim = call.value_dim();
  LinearAttended<Scalar> result{Matrix<Scalar>(query.rows(), call.heads() * value_dim),
                                Matrix<Scalar>(call.state_rows(), value_dim)};
  call.for_each_task([&](const typename Call::Task& task) {
    Matrix<Scalar> state = call.first_state(task);
    for (Index c = 0; c < Call::chunks(task); ++c) {
      const Range rows = Call::chunk_rows(task, c);
      const LinearChunk<Scalar> chunk = call.chunk(task, rows);
      const Matrix<Scalar> written = linear_written(chunk, state).rows;
      for (Index h = task.kv_head * call.group(); h < (task.kv_head + 1) * call.group(); ++h)
        result.output.block(rows.begin, h * value_dim, rows.size(), value_dim) =
            call.scale() * linear_output(chunk, call.query(rows, h), state, written);
      linear_advance(chunk, written, state);
    }
    result.state.middleRows(task.state_row, call.head_dim()) = state;
  });
  return result;
}

}  // namespace attention

/// Linear attention: one matrix a head, to which every token adds, is all that is remembered of the past.
///
///     S   <- exp(decay_t) S                        where there is a decay
///     u_t  = v_t,  or  beta_t (v_t - S^T k_t)      with beta, the delta rule
///     S   <- S + k_t u_t^T
///     o_t  = scale S^T q_t
///
/// query [n, heads * head_dim], key [n, kv_heads * head_dim], value [n, kv_heads * value_dim] -> output [n,
/// heads * value_dim] and the last state, which a later call goes on from: `state`, zeros when not given.
/// Query head h reads key-value head h / (heads / kv_heads). There is no softmax and no denominator; a
/// feature map is applied to query and key beforehand, and keys of a delta rule are normalised by the caller.
/// Matrices by columns and expressions are copied. Throws ShapeError, before any work, when shapes do not
/// fit. Cost: O(n head_dim value_dim) a head, tokens taken 64 at a time in products; memory of a state and 64
/// rows a thread. Papers: Katharopoulos et al., "Transformers are RNNs", 2020, section 3; Schlag et al.,
/// "Linear Transformers Are Secretly Fast Weight Programmers", 2021, section 4 (delta rule); Yang et al.,
/// "Gated Linear Attention Transformers with Hardware-Efficient Training", 2024, and "Gated Delta Networks",
/// 2024.
template <RealMatrix Q, RealMatrix K, RealMatrix V>
requires SameScalar<Q, K, V> LinearAttended<scalar_of<Q>> attend_linear_with_state(
    const Q& query, const K& key, const V& value, const LinearOptions& options = {},
    const LinearRule<scalar_of<Q>>& rule = {}, const Matrix<scalar_of<Q>>& state = {}) {
  return attention::attend_linear_matrices<scalar_of<Q>>(query, key, value, options, rule, state);
}

/// The output alone.
template <RealMatrix Q, RealMatrix K, RealMatrix V>
requires SameScalar<Q, K, V> Matrix<scalar_of<Q>> attend_linear(const Q& query, const K& key, const V& value,
                                                                const LinearOptions& options = {},
                                                                const LinearRule<scalar_of<Q>>& rule = {},
                                                                const Matrix<scalar_of<Q>>& state = {}) {
  return attend_linear_with_state(query, key, value, options, rule, state).output;
}

}  // namespace headwise
