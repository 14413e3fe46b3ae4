#pragma once

#include <headwise/attention/attend_backward.hpp>
#include <headwise/autograd/record.hpp>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace headwise::autograd {

/// What attention returns on a tape: output [q_rows, heads * value_dim], lse [q_rows, heads].
template <class Scalar>
struct AttendedVar {
  Var<Scalar> output, lse;
};

namespace detail {

/// Options whose positions are kept until backward asks for them.
class KeptOptions {
 public:
  explicit KeptOptions(const AttendOptions& options)
      : options_(options),
        query_positions_(options.query_positions.begin(), options.query_positions.end()),
        key_positions_(options.key_positions.begin(), options.key_positions.end()) {}

  AttendOptions get() const {
    AttendOptions options = options_;
    options.query_positions = query_positions_;
    options.key_positions = key_positions_;
    return options;
  }

 private:
  AttendOptions options_;
  std::vector<Position> query_positions_, key_positions_;
};

/// A score for the kernel: each variable of `score` gives way to a view of its numbers, and is noted.
template <class Scalar, class Score>
auto score_of_values(Tape<Scalar>& tape, const Score& score, std::vector<Var<Scalar>>& operands) {
  return headwise::map_operands(score, [&](const auto& operand) {
    const Var<Scalar> var = as_var<Scalar>(tape, operand);
    operands.push_back(var);
    return Eigen::Map<const Matrix<Scalar>>(var.value().data(), var.rows(), var.cols());
  });
}

/// Hands out the gradients of a call. operands: query, key, value, then those of the score.
template <class Scalar>
void add_gradients(Sweep<Scalar>& sweep, const std::vector<Var<Scalar>>& operands,
                   AttendGradients<Scalar> gradients) {
  sweep.add(operands[0], std::move(gradients.query));
  sweep.add(operands[1], std::move(gradients.key));
  sweep.add(operands[2], std::move(gradients.value));
  for (std::size_t n = 0; n < gradients.learned.size(); ++n)
    sweep.add(operands[3 + n], std::move(gradients.learned[n]));
}

/// One call of attention: all that backward needs besides the numbers of its variables.
template <class Scalar, class Mask, class Score>
struct AttendCall {
  std::vector<Var<Scalar>> operands;  ///< query, key, value, then those of the score
  KeptOptions options;
  Mask mask;
  Score score;
  std::optional<Plans> plans;
  std::size_t output;  ///< the node of the result
  Matrix<Scalar> lse;
  Matrix<Scalar> d_lse{};  ///< of the sweep that goes on, where the loss reads the log-sum-exp

  Attended<Scalar> forward() const {
    const AttendOptions call = options.get();
    const Index heads = attention::head_count(call.heads);
    const Index kv_heads = attention::head_count(attention::detail::kv_heads_of(call));
    return attention::attend_operands(
        kernel::operand(operands[0].value(), heads), kernel::operand(operands[1].value(), kv_heads),
        kernel::operand(operands[2].value(), kv_heads), call, mask, score, plans ? &*plans : nullptr);
  }

  void backward(Sweep<Scalar>& sweep, const Matrix<Scalar>& d_output) {
    const AttendOptions call = options.get();
    const Matrix<Scalar>& result = operands[0].tape().value(output);
    const Index heads = call.heads, kv_heads = attention::detail::kv_heads_of(call);
    add_gradients(
        sweep, operands,
        attention::attend_backward_operands<Scalar>(
            kernel::operand(operands[0].value(), heads), kernel::operand(operands[1].value(), kv_heads),
            kernel::operand(operands[2].value(), kv_heads), kernel::operand(result, heads), lse,
            kernel::operand(d_output, heads), std::exchange(d_lse, {}), call, mask, score,
            plans ? &*plans : nullptr));
  }
};

/// A node and what it keeps.
template <class Scalar, class Call>
struct RecordedAttend {
  Var<Scalar> output;
  std::shared_ptr<Call> call;
};

/// One node for the whole call, which keeps the log-sum-exp and recomputes the weights.
template <class Q, class K, class V, class Mask, class Score>
auto recorded_attend(const Q& query, const K& key, const V& value, const AttendOptions& options,
                     const Mask& mask, const Score& score, const Plans* plans = nullptr) {
  const auto vars = as_vars(query, key, value);
  using Scalar = scalar_of<decltype(vars[0])>;
  Tape<Scalar>& tape = vars[0].tape();
  std::vector<Var<Scalar>> operands(vars.begin(), vars.end());
  auto of_values = score_of_values<Scalar>(tape, score, operands);
  static_assert(
      DifferentiableScore<decltype(of_values), Scalar>,
      "this score has no derivative, so that nothing can be learned through it; score::function takes a "
      "callable with its derivative");
  using Call = AttendCall<Scalar, Mask, decltype(of_values)>;
  auto call = std::make_shared<Call>(Call{operands,
                                          KeptOptions(options),
                                          mask,
                                          std::move(of_values),
                                          plans != nullptr ? std::optional<Plans>(*plans) : std::nullopt,
                                          tape.size(),
                                          {}});
  Attended<Scalar> attended = call->forward();
  call->lse = std::move(attended.lse);
  const Var<Scalar> output =
      tape.record(std::move(attended.output), operands,
                  [call](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) { call->backward(sweep, d); });
  return RecordedAttend<Scalar, Call>{output, std::move(call)};
}

/// The log-sum-exp as a variable: its gradient waits for that of the output, whose node comes next.
template <class Scalar, class Call>
AttendedVar<Scalar> with_lse(RecordedAttend<Scalar, Call> attended) {
  const Var<Scalar> output = attended.output;
  Matrix<Scalar> lse = attended.call->lse;
  return {output, output.tape().record(
                      std::move(lse), {output},
                      [output, call = std::move(attended.call)](Sweep<Scalar>& sweep, Matrix<Scalar> d) {
                        sweep.sum(output);
                        call->d_lse = std::move(d);
                      })};
}

}  // namespace detail

/// Attention, recorded as one node whose backward is fused: see headwise::attend for meaning and shapes.
///
/// Query, key, value and the learned numbers of the score may be variables, parameters or matrices, at least
/// one of the first three a variable. Mask, score and options are kept until the tape ends; an executor must
/// live as long. Cost: forward as without a tape, backward 2.5 times that; memory O(rows * head_dim).
template <class Q, class K, class V, MaskPolicy Mask, class Score>
requires Recorded<Q, K, V>
auto attend(const Q& query, const K& key, const V& value, const AttendOptions& options, const Mask& mask,
            const Score& score) {
  return detail::recorded_attend(query, key, value, options, mask, score).output;
}
template <class Q, class K, class V, MaskPolicy Mask>
requires Recorded<Q, K, V>
auto attend(const Q& query, const K& key, const V& value, const AttendOptions& options, const Mask& mask) {
  return detail::recorded_attend(query, key, value, options, mask, score::None{}).output;
}
template <class Q, class K, class V>
requires Recorded<Q, K, V>
auto attend(const Q& query, const K& key, const V& value, const AttendOptions& options) {
  return detail::recorded_attend(query, key, value, options, mask::None{}, score::None{}).output;
}
template <class Q, class K, class V, MaskPolicy Mask, class Score>
requires Recorded<Q, K, V>
auto attend(const Q& query, const K& key, const V& value, const Mask& mask, const Score& score) {
  return detail::recorded_attend(query, key, value, AttendOptions{}, mask, score).output;
}
template <class Q, class K, class V, MaskPolicy Mask>
requires Recorded<Q, K, V>
auto attend(const Q& query, const K& key, const V& value, const Mask& mask) {
  return detail::recorded_attend(query, key, value, AttendOptions{}, mask, score::None{}).output;
}
template <class Q, class K, class V>
requires Recorded<Q, K, V>
auto attend(const Q& query, const K& key, const V& value) {
  return detail::recorded_attend(query, key, value, AttendOptions{}, mask::None{}, score::None{}).output;
}

/// The same with the log-sum-exp, which a loss may read, too: both gradients go through the one backward.
template <class Q, class K, class V, MaskPolicy Mask = mask::None, class Score = score::None>
requires Recorded<Q, K, V>
auto attend_with_lse(const Q& query, const K& key, const V& value, const AttendOptions& options = {},
                     const Mask& mask = {}, const Score& score = {}) {
  return detail::with_lse(detail::recorded_attend(query, key, value, options, mask, score));
}

/// Attention over plans, recorded, with the log-sum-exp. The plans are kept until the tape ends.
template <class Q, class K, class V, MaskPolicy Mask = mask::None, class Score = score::None>
requires Recorded<Q, K, V>
auto attend_over(const Plans& plans, const Q& query, const K& key, const V& value,
                 const AttendOptions& options = {}, const Mask& mask = {}, const Score& score = {}) {
  return detail::with_lse(detail::recorded_attend(query, key, value, options, mask, score, &plans));
}

}  // namespace headwise::autograd
