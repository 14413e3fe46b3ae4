#pragma once

#include <headwise/attention/linear_backward.hpp>
#include <headwise/autograd/record.hpp>

#include <array>
#include <memory>
#include <optional>
#include <utility>

namespace headwise::autograd {

/// headwise::LinearRule on a tape; what is not given is left out.
template <class Scalar>
struct LinearRuleVars {
  std::optional<Var<Scalar>> decay{}, beta{};
};

/// What linear attention returns on a tape: a loss may read the last state, or a later call go on from it.
template <class Scalar>
struct LinearVars {
  Var<Scalar> output, state;
};

namespace detail {

template <class Scalar>
Var<Scalar> part_of_rule(Tape<Scalar>& tape, const std::optional<Var<Scalar>>& part) {
  return part ? as_var<Scalar>(tape, *part) : tape.constant({});
}
template <class Scalar>
Var<Scalar> part_of_rule(Tape<Scalar>& tape, const Matrix<Scalar>& part) {
  return tape.constant(part);
}

/// One call of linear attention: all that backward needs besides the numbers of its variables.
template <class Scalar>
struct LinearNode {
  std::array<Var<Scalar>, 6> operands;  ///< query, key, value, decay, beta, state
  LinearOptions options;
  Matrix<Scalar> d_state{};  ///< of the sweep that goes on, where something reads the last state

  const Matrix<Scalar>& value(std::size_t operand) const { return operands[operand].value(); }
  LinearRule<Scalar> rule() const { return {value(3), value(4)}; }

  LinearAttended<Scalar> forward() const {
    return headwise::attend_linear_with_state(value(0), value(1), value(2), options, rule(), value(5));
  }

  void backward(Sweep<Scalar>& sweep, const Matrix<Scalar>& d_output) {
    auto gradients = headwise::attend_linear_backward(value(0), value(1), value(2), d_output, options, rule(),
                                                      value(5), std::exchange(d_state, {}));
    sweep.add(operands[0], std::move(gradients.query));
    sweep.add(operands[1], std::move(gradients.key));
    sweep.add(operands[2], std::move(gradients.value));
    sweep.add(operands[3], std::move(gradients.rule.decay));
    sweep.add(operands[4], std::move(gradients.rule.beta));
    sweep.add(operands[5], std::move(gradients.state));
  }
};

/// The node of the output; and the call, with its last state.
template <class Scalar>
struct RecordedLinear {
  Var<Scalar> output;
  std::shared_ptr<LinearNode<Scalar>> call;
  Matrix<Scalar> state;
};

template <class Q, class K, class V, class Rule, class State>
auto recorded_linear(const Q& query, const K& key, const V& value, const LinearOptions& options,
                     const Rule& rule, const State& state) {
  using Scalar = scalar_of<Q>;
  Tape<Scalar>& tape = tape_of(query, key, value);
  auto call = std::make_shared<LinearNode<Scalar>>(
      LinearNode<Scalar>{{as_var<Scalar>(tape, query), as_var<Scalar>(tape, key), as_var<Scalar>(tape, value),
                          part_of_rule<Scalar>(tape, rule.decay), part_of_rule<Scalar>(tape, rule.beta),
                          as_var<Scalar>(tape, state)},
                         options});
  LinearAttended<Scalar> attended = call->forward();
  const Var<Scalar> output =
      tape.record(std::move(attended.output), call->operands,
                  [call](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) { call->backward(sweep, d); });
  return RecordedLinear<Scalar>{output, std::move(call), std::move(attended.state)};
}

}  // namespace detail

/// Linear attention, recorded as one node: see headwise::attend_linear.
///
/// Query, key and value may be variables, parameters or matrices; rule LinearRuleVars, or a LinearRule, which
/// is constant; state a variable or a matrix. It keeps nothing but its operands; an executor must be usable
/// as long as the tape. Cost: backward about three times forward.
template <class Q, class K, class V, class Rule = LinearRuleVars<scalar_of<Q>>,
          class State = Matrix<scalar_of<Q>>>
requires Recorded<Q, K, V>
auto attend_linear(const Q& query, const K& key, const V& value, const LinearOptions& options = {},
                   const Rule& rule = {}, const State& state = {}) {
  return detail::recorded_linear(query, key, value, options, rule, state).output;
}

/// The same with the last state. Both gradients go through the one backward, and that of a call which goes on
/// from the state reaches this one.
template <class Q, class K, class V, class Rule = LinearRuleVars<scalar_of<Q>>,
          class State = Matrix<scalar_of<Q>>>
requires Recorded<Q, K, V>
auto attend_linear_with_state(const Q& query, const K& key, const V& value, const LinearOptions& options = {},
                              const Rule& rule = {}, const State& state = {}) {
  using Scalar = scalar_of<Q>;
  auto recorded = detail::recorded_linear(query, key, value, options, rule, state);
  const Var<Scalar> output = recorded.output;
  return LinearVars<Scalar>{output, output.tape().record(std::move(recorded.state), {output},
                                                         [output, call = std::move(recorded.call)](
                                                             Sweep<Scalar>& sweep, Matrix<Scalar> d) {
                                                           sweep.sum(output);
                                                           call->d_state = std::move(d);
                                                         })};
}

}  // namespace headwise::autograd
