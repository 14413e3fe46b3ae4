#pragma once

#include <headwise/attention/linear.hpp>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace headwise {

/// What backward through linear attention returns: gradients in the shapes of their matrices, empty for parts
/// of the rule that were not given; of the first state always.
template <class Scalar>
struct LinearGradients {
  Matrix<Scalar> query, key, value;
  LinearRule<Scalar> rule;
  Matrix<Scalar> state;
};

namespace attention {

/// Gradients of what the tokens of one chunk read and write.
template <class Scalar>
struct LinearChunkGradients {
  Matrix<Scalar> written;  ///< of u [n, d_v]
  Matrix<Scalar> writing;  ///< of the keys under which u is written [n, d_k]
  Matrix<Scalar> state;    ///< of the state before the chunk [d_k, d_v]
};

/// linear_read_few backward; row t of d_r is there.
template <class Scalar>
void linear_read_few_backward(const LinearChunk<Scalar>& chunk, const HeadRows<Scalar>& x,
                              const Matrix<Scalar>& written, const Matrix<Scalar>& d_r, Index first, Index t,
                              LinearChunkGradients<Scalar>& d, Matrix<Scalar>& d_x) {
  std::array<Scalar, few_linear_tokens> d_scores;
  Matrix<Scalar> faded = x.row(t);
  for (Index i = t - 1; i >= first; --i) {
    chunk.gates.fade(faded, i + 1);
    d_scores[std::size_t(i - first)] = row_product(d_r.row(t), written.row(i));
    add_row(d.written.row(i), row_product(faded, chunk.key.row(i)), d_r.row(t));
    add_row(d.writing.row(i), d_scores[std::size_t(i - first)], faded);
  }
  Matrix<Scalar> d_row = Matrix<Scalar>::Zero(1, x.cols());
  for (Index i = first; i < t; ++i) {
    add_row(d_row, d_scores[std::size_t(i - first)], chunk.key.row(i));
    chunk.gates.fade(d_row, i + 1);
  }
  d_x.row(t) += d_row;
}

/// linear_read backward: adds to what was read, and returns the gradient of x. token(t) is called when all
/// that later tokens read of token t has been added up, and sees to row t of d_r, if it is not there yet.
template <class Scalar, class Token>
Matrix<Scalar> linear_read_backward(const LinearChunk<Scalar>& chunk, const HeadRows<Scalar>& x,
                                    const Matrix<Scalar>& state, const Matrix<Scalar>& written,
                                    const Matrix<Scalar>& d_r, LinearChunkGradients<Scalar>& d,
                                    Token&& token) {
  const LinearGates<Scalar>& gates = chunk.gates;
  Matrix<Scalar> d_x = Matrix<Scalar>::Zero(x.rows(), x.cols());
  const auto few = [&](Range tokens) {
    for (Index t = tokens.end - 1; t >= tokens.begin; --t) {
      token(t);
      linear_read_few_backward(chunk, x, written, d_r, tokens.begin, t, d, d_x);
    }
  };
  by_halves_backward(chunk.tokens(), few, [&](Range early, Range late) {
    const Matrix<Scalar> reading = gates.from_start(x.middleRows(late.begin, late.size()), late);
    const Matrix<Scalar> keys = gates.to_end(chunk.key.middleRows(early.begin, early.size()), early);
    const auto d_late = d_r.middleRows(late.begin, late.size());
    const Matrix<Scalar> d_scores =
        multiply_transposed(d_late, written.middleRows(early.begin, early.size()));  // [late, early]
    d.written.middleRows(early.begin, early.size()) +=
        multiply_transposed_left(multiply_transposed(reading, keys), d_late);
    d.writing.middleRows(early.begin, early.size()) +=
        gates.to_end(multiply_transposed_left(d_scores, reading), early);
    d_x.middleRows(late.begin, late.size()) += gates.from_start(multiply(d_scores, keys), late);
  });
  d_x += gates.from_start(multiply_transposed(d_r, state), chunk.tokens());
  d.state += multiply_transposed_left(gates.from_start(x, chunk.tokens()), d_r);
  return d_x;
}

/// linear_output backward: returns the gradient of the query.
template <class Scalar>
Matrix<Scalar> linear_output_backward(const LinearChunk<Scalar>& chunk, const HeadRows<Scalar>& query,
                                      const Matrix<Scalar>& state, const Matrix<Scalar>& written,
                                      const Matrix<Scalar>& d_output, LinearChunkGradients<Scalar>& d) {
  Matrix<Scalar> d_query = linear_read_backward(chunk, query, state, written, d_output, d, [](Index) {});
  for (Index t = 0; t < query.rows(); ++t) {
    add_row(d.written.row(t), row_product(query.row(t), chunk.key.row(t)), d_output.row(t));
    const Scalar d_score = row_product(d_output.row(t), written.row(t));
    add_row(d.writing.row(t), d_score, query.row(t));
    add_row(d_query.row(t), d_score, chunk.key.row(t));
  }
  return d_query;
}

/// linear_written backward: turns the gradient of what was written into that of the values, fills d_beta, and
/// returns the gradient of the keys under which errors were read.
template <class Scalar>
Matrix<Scalar> linear_written_backward(const LinearChunk<Scalar>& chunk, const Matrix<Scalar>& state,
                                       const LinearWritten<Scalar>& written, LinearChunkGradients<Scalar>& d,
                                       Matrix<Scalar>& d_beta) {
  if (chunk.beta.size() == 0) return Matrix<Scalar>::Zero(chunk.key.rows(), chunk.key.cols());
  d_beta.resize(chunk.beta.rows(), 1);
  Matrix<Scalar> d_r(chunk.value.rows(), chunk.value.cols());
  return linear_read_backward(chunk, chunk.key, state, written.rows, d_r, d, [&](Index t) {
    d_beta(t, 0) = row_product(d.written.row(t), written.errors.row(t));
    d.written.row(t) *= chunk.beta(t, 0);
    d_r.row(t) = -d.written.row(t);
  });
}

/// Backward through a call. With G_t the sum of decays up to token t of a chunk, a key reads with exp(G_t)
/// and writes with exp(-G_t), so that the gradients of decays follow from those of what they multiply:
///
///     dG_t      = q_t o dq_t + k_t o (dk_t as a key that reads) - k_t o (dk_t as a key that writes)
///     dG_last  += row sums of S o dS, after the chunk
///     ddecay_t  = sum over s >= t of dG_s
///
/// What a token writes and reads itself counts in the first and the last term of its dG, and cancels.
template <class Scalar>
class LinearBackward {
 public:
  using Call = LinearCall<Scalar>;
  using Task = typename Call::Task;

  LinearBackward(const Call& call, const ConstMatrixRef<Scalar>& d_output, LinearGradients<Scalar>& result)
      : call_(call), d_output_(d_output), result_(result) {}

  /// `d_state`: of the task's last state on entry, of its first on return.
  void run(const Task& task, Matrix<Scalar>& d_state) {
    std::vector<Matrix<Scalar>> states{call_.first_state(task)};
    for (Index c = 0; c < Call::chunks(task); ++c) {
      const LinearChunk<Scalar> chunk = call_.chunk(task, Call::chunk_rows(task, c));
      const Matrix<Scalar> written = linear_written(chunk, states.back()).rows;
      states.push_back(states.back());
      linear_advance(chunk, written, states.back());
    }
    while (states.size() > 1) {
      const Matrix<Scalar> after = std::move(states.back());
      states.pop_back();
      const Range rows = Call::chunk_rows(task, Index(states.size()) - 1);
      run_chunk(task, rows, states.back(), after, d_state);
    }
  }

 private:
  void run_chunk(const Task& task, Range rows, const Matrix<Scalar>& state, const Matrix<Scalar>& after,
                 Matrix<Scalar>& d_state) {
    const LinearChunk<Scalar> chunk = call_.chunk(task, rows);
    const LinearWritten<Scalar> written = linear_written(chunk, state);
    const Range tokens = chunk.tokens();
    const Index head_dim = call_.head_dim(), value_dim = call_.value_dim();

    // S' = (all gates) S + (keys as they are left at the end)^T u
    LinearChunkGradients<Scalar> d{multiply(chunk.gates.to_end(chunk.key, tokens), d_state),
                                   chunk.gates.to_end(multiply_transposed(written.rows, d_state), tokens),
                                   d_state};
    chunk.gates.decay(d.state);

    Matrix<Scalar> d_sums = Matrix<Scalar>::Zero(rows.size(), head_dim);
    for (Index h = task.kv_head * call_.group(); h < (task.kv_head + 1) * call_.group(); ++h) {
      const HeadRows<Scalar> query = call_.query(rows, h);
      const Matrix<Scalar> d_output =
          call_.scale() * d_output_.block(rows.begin, h * value_dim, rows.size(), value_dim);
      const Matrix<Scalar> d_query = linear_output_backward(chunk, query, state, written.rows, d_output, d);
      d_sums += query.cwiseProduct(d_query);
      result_.query.block(rows.begin, h * head_dim, rows.size(), head_dim) = d_query;
    }

    Matrix<Scalar> d_beta;
    const Matrix<Scalar> d_reading = linear_written_backward(chunk, state, written, d, d_beta);
    result_.value.block(rows.begin, task.kv_head * value_dim, rows.size(), value_dim) = d.written;
    result_.key.block(rows.begin, task.kv_head * head_dim, rows.size(), head_dim) = d_reading + d.writing;
    if (d_beta.size() > 0) result_.rule.beta.block(rows.begin, task.kv_head, rows.size(), 1) = d_beta;
    if (chunk.gates.given()) {
      d_sums += chunk.key.cwiseProduct(d_reading - d.writing);
      d_sums.row(rows.size() - 1) += after.cwiseProduct(d_state).rowwise().sum().transpose();
      put_decay(task, rows, d_sums);
    }
    d_state = std::move(d.state);
  }

  void put_decay(const Task& task, Range rows, Matrix<Scalar>& d_sums) {
    for (Index t = rows.size() - 1; t > 0; --t) d_sums.row(t - 1) += d_sums.row(t);
    const Index width = result_.rule.decay.cols() / call_.kv_heads();
    auto d_decay = result_.rule.decay.block(rows.begin, task.kv_head * width, rows.size(), width);
    if (width == 1) {
      d_decay = d_sums.rowwise().sum();
    } else {
      d_decay = d_sums;
    }
  }

  const Call& call_;
  const ConstMatrixRef<Scalar>& d_output_;
  LinearGradients<Scalar>& result_;
};

/// The body of attend_linear_backward, compiled once a scalar.
template <class Scalar>
LinearGradients<Scalar> attend_linear_backward_matrices(
    const ConstMatrixRef<Scalar>& query, const ConstMatrixRef<Scalar>& key,
    const ConstMatrixRef<Scalar>& value, const ConstMatrixRef<Scalar>& d_output, const LinearOptions& options,
    const LinearRule<Scalar>& rule, const Matrix<Scalar>& first, const Matrix<Scalar>& d_last) {
  const LinearCall<Scalar> call(query, key, value, options, rule, first);
  expect_equal("attend_linear_backward: d_output rows", d_output.rows(), query.rows(), "the shape of output");
  expect_equal("attend_linear_backward: d_output columns", d_output.cols(), call.heads() * call.value_dim(),
               "the shape of output");
  call.check_state("attend_linear_backward: d_state", d_last);

  LinearGradients<Scalar> result;
  result.query.resize(query.rows(), query.cols());
  result.key.resize(key.rows(), key.cols());
  result.value.resize(value.rows(), value.cols());
  result.rule.decay.resize(rule.decay.rows(), rule.decay.cols());
  result.rule.beta.resize(rule.beta.rows(), rule.beta.cols() > 0 ? call.kv_heads() : 0);
  result.state.resize(call.state_rows(), call.value_dim());
  LinearBackward<Scalar> backward(call, d_output, result);
  call.for_each_task([&](const auto& task) {
    Matrix<Scalar> d_state = Matrix<Scalar>::Zero(call.head_dim(), call.value_dim());
    if (d_last.size() > 0) d_state = d_last.middleRows(task.state_row, call.head_dim());
    backward.run(task, d_state);
    result.state.middleRows(task.state_row, call.head_dim()) = d_state;
  });
  // Heads share a beta, but not a sum that threads would race for.
  if (rule.beta.cols() == 1) result.rule.beta = result.rule.beta.rowwise().sum().eval();
  return result;
}

}  // namespace attention

/// The gradients of sum(output o d_output) + sum(state o d_state) for attend_linear_with_state, called with
/// the same arguments; d_state, zeros when not given, is that of the last state.
///
/// For a token, with r_t what it finds under its key, dS the gradient of the state after it and dO scaled:
///
///     dS   += q_t do_t^T;   dq_t = S do_t;   du = dS^T k_t;   dk_t = dS u_t
///     dv_t  = beta_t du,   dbeta_t = du . (v_t - r_t),   dk_t -= S dv_t,   dS -= k_t dv_t^T     with beta
///     ddecay_t = row sums of dS o S, before the token writes;   dS <- exp(decay_t) dS
///
/// which is done chunk by chunk in products, the mirror of forward. Keeps one state every 64 tokens of a
/// sequence and head, while the head is worked on; nothing of forward is needed. Errors as attend_linear.
/// Cost: about three times forward.
template <RealMatrix Q, RealMatrix K, RealMatrix V, RealMatrix D>
requires SameScalar<Q, K, V, D> LinearGradients<scalar_of<Q>> attend_linear_backward(
    const Q& query, const K& key, const V& value, const D& d_output, const LinearOptions& options = {},
    const LinearRule<scalar_of<Q>>& rule = {}, const Matrix<scalar_of<Q>>& state = {},
    const Matrix<scalar_of<Q>>& d_state = {}) {
  return attention::attend_linear_backward_matrices<scalar_of<Q>>(query, key, value, d_output, options, rule,
                                                                  state, d_state);
}

}  // namespace headwise
