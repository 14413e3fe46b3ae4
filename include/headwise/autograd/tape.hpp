#pragma once

#include <headwise/autograd/gradients.hpp>
#include <headwise/core/error.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/core/parameter.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <initializer_list>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headwise::autograd {

template <class Scalar>
class Tape;
template <class Scalar>
class Sweep;

/// A matrix on a tape: two words, copied freely, valid as long as its tape.
///
/// Layers take it wherever they take a matrix: the verbs they are written in then record what they do.
template <class Scalar_>
class Var {
 public:
  using Scalar = Scalar_;

  Index rows() const noexcept { return value().rows(); }
  Index cols() const noexcept { return value().cols(); }

  /// The numbers: those that the same verbs give for matrices, bit for bit.
  const Matrix<Scalar>& value() const noexcept { return tape_->value(node_); }

  /// False for constants, and for what was made of constants only.
  bool learns() const noexcept { return tape_->learns(node_); }

  Tape<Scalar>& tape() const noexcept { return *tape_; }
  std::size_t node() const noexcept { return node_; }

 private:
  friend class Tape<Scalar>;
  Var(Tape<Scalar>& tape, std::size_t node) noexcept : tape_(&tape), node_(node) {}

  Tape<Scalar>* tape_;
  std::size_t node_;
};

/// Token ids on a tape: what an embedding reads becomes a variable.
template <class Scalar_>
class Ids {
 public:
  using Scalar = Scalar_;

  Ids(Tape<Scalar>& tape, std::vector<TokenId> ids) : tape_(&tape), ids_(std::move(ids)) {}

  std::size_t size() const noexcept { return ids_.size(); }
  std::span<const TokenId> value() const noexcept { return ids_; }
  Tape<Scalar>& tape() const noexcept { return *tape_; }

 private:
  Tape<Scalar>* tape_;
  std::vector<TokenId> ids_;
};

/// Records what verbs do to variables, so that backward can go through it in reverse.
///
///     autograd::Tape<float> tape;
///     const auto loss = loss::cross_entropy(model(tape.input(ids)), targets);
///     const auto gradients = backward(loss);
///
/// One tape a step, and a thread. Parameters become leaves when they first meet a variable; they are neither
/// copied nor changed, and must not move while the tape lives. Cost: every result of a verb stays until the
/// tape ends; attention keeps one number a row and head on top, never q_len * k_len.
template <class Scalar_>
class Tape {
 public:
  using Scalar = Scalar_;

  /// Adds the gradients of a verb's operands to the sweep, given that of its result.
  using PullBack = std::function<void(Sweep<Scalar>& sweep, Matrix<Scalar> d_result)>;

  Tape() = default;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// What the step begins with; Gradients::of knows its gradient.   x [n, m] -> [n, m]
  Var<Scalar> input(Matrix<Scalar> x) {
    const Var<Scalar> var = added(Node{std::move(x), nullptr, {}, true});
    inputs_.push_back(var.node());
    return var;
  }
  /// ids [n]: models take them in the place of a list of ids.
  Ids<Scalar> input(std::vector<TokenId> ids) { return {*this, std::move(ids)}; }

  /// Numbers without a gradient: nothing is computed for what only depends on them.
  Var<Scalar> constant(Matrix<Scalar> x) { return added(Node{std::move(x), nullptr, {}, false}); }

  /// A parameter by its address. Verbs do this by themselves; a parameter for a score that is made on the way
  /// is named here: Alibi(tape.parameter(slopes)).
  Var<Scalar> parameter(const Parameter<Scalar>& parameter) { return leaf(parameter.value); }

  /// The same by the address of its numbers.
  Var<Scalar> leaf(const Matrix<Scalar>& numbers) {
    if (const auto known = leaves_.find(&numbers); known != leaves_.end()) return {*this, known->second};
    const Var<Scalar> var = added(Node{{}, &numbers, {}, true});
    leaves_.emplace(&numbers, var.node());
    met_.push_back(var.node());
    return var;
  }

  /// Numbers that live elsewhere, longer than the tape: an input when they learn, else a constant.
  Var<Scalar> borrowed(const Matrix<Scalar>& x, bool learns) {
    const Var<Scalar> var = added(Node{{}, &x, {}, learns});
    if (learns) inputs_.push_back(var.node());
    return var;
  }

  /// The result of a verb. Its pull_back is called when the result has a gradient; where no operand learns,
  /// never.
  Var<Scalar> record(Matrix<Scalar> value, std::span<const Var<Scalar>> operands, PullBack pull_back) {
    bool learned = false;
    for (const Var<Scalar>& operand : operands) learned = learned || operand.learns();
    if (!learned) return constant(std::move(value));
    return record_learned(std::move(value), std::move(pull_back));
  }
  Var<Scalar> record_learned(Matrix<Scalar> value, PullBack pull_back) {
    return added(Node{std::move(value), nullptr, std::move(pull_back), true});
  }
  Var<Scalar> record(Matrix<Scalar> value, std::initializer_list<Var<Scalar>> operands, PullBack pull_back) {
    return record(std::move(value), std::span(operands.begin(), operands.size()), std::move(pull_back));
  }

  const Matrix<Scalar>& value(std::size_t node) const noexcept {
    const Node& at = nodes_[node];
    return at.borrowed != nullptr ? *at.borrowed : at.owned;
  }
  bool learns(std::size_t node) const noexcept { return nodes_[node].learns; }
  std::size_t size() const noexcept { return nodes_.size(); }

 private:
  friend class Sweep<Scalar>;

  struct Node {
    Matrix<Scalar> owned;
    const Matrix<Scalar>* borrowed;  ///< a parameter's numbers, or another node's; else null
    PullBack pull_back;              ///< empty for leaves and constants
    bool learns;
  };

  Var<Scalar> added(Node node) {
    nodes_.push_back(std::move(node));
    return {*this, nodes_.size() - 1};
  }

  std::deque<Node> nodes_;  // its elements stay where they are
  std::unordered_map<const Matrix<Scalar>*, std::size_t> leaves_;
  std::vector<std::size_t> met_, inputs_;
};

/// The gradients while backward goes through a tape: what pull-backs add to.
template <class Scalar>
class Sweep {
 public:
  explicit Sweep(Tape<Scalar>& tape) : tape_(tape), gradients_(tape.size()), reached_(tape.size(), false) {}

  /// True when a gradient for x is of use: a pull-back may spare itself the others.
  bool wants(const Var<Scalar>& x) const noexcept { return x.learns(); }

  /// Adds to the gradient of x; the first summand is moved in.
  void add(const Var<Scalar>& x, Matrix<Scalar> gradient) {
    if (!wants(x)) return;
    make_room(x.node());
    if (reached_[x.node()]) {
      gradients_[x.node()] += gradient;
    } else {
      gradients_[x.node()] = std::move(gradient);
      reached_[x.node()] = true;
    }
  }

  /// The gradient of x so far, zeros at first, for those who add to parts of it. x must learn.
  Matrix<Scalar>& sum(const Var<Scalar>& x) {
    make_room(x.node());
    if (!reached_[x.node()]) gradients_[x.node()] = Matrix<Scalar>::Zero(x.rows(), x.cols());
    reached_[x.node()] = true;
    return gradients_[x.node()];
  }

  /// A loop from the last node to the first: the depth of what was recorded costs no stack.
  Gradients<Scalar> run(const Var<Scalar>& result, Matrix<Scalar> d_result) {
    add(result, std::move(d_result));
    for (std::size_t node = result.node() + 1; node-- > 0;) {
      const auto& pull_back = tape_.nodes_[node].pull_back;
      if (!reached_[node] || !pull_back) continue;
      reached_[node] = false;
      pull_back(*this, std::exchange(gradients_[node], {}));
    }
    return collected();
  }

 private:
  /// A recomputed block may show the tape parameters that it had not met before.
  void make_room(std::size_t node) {
    if (node < gradients_.size()) return;
    gradients_.resize(node + 1);
    reached_.resize(node + 1, false);
  }

  Matrix<Scalar> taken(std::size_t node) {
    if (node < reached_.size() && reached_[node]) return std::move(gradients_[node]);
    const Matrix<Scalar>& value = tape_.value(node);
    return Matrix<Scalar>::Zero(value.rows(), value.cols());
  }

  Gradients<Scalar> collected() {
    Gradients<Scalar> result;
    for (const std::size_t node : tape_.met_) result.set(*tape_.nodes_[node].borrowed, taken(node));
    for (const std::size_t node : tape_.inputs_) result.set_input(node, taken(node));
    return result;
  }

  Tape<Scalar>& tape_;
  std::vector<Matrix<Scalar>> gradients_;
  std::vector<bool> reached_;
};

/// The gradients of sum(y o d_y): one row of the Jacobian, or a mixture of them.   y, d_y [n, m]
/// Throws ShapeError when the shapes differ.
/// Cost: about twice that of what was recorded. The tape stays as it is: further calls may follow.
template <class Scalar>
Gradients<Scalar> backward(const Var<Scalar>& y, std::type_identity_t<Matrix<Scalar>> d_y) {
  expect_equal("backward: rows of d_y", d_y.rows(), y.rows());
  expect_equal("backward: columns of d_y", d_y.cols(), y.cols());
  return Sweep<Scalar>(y.tape()).run(y, std::move(d_y));
}

/// The gradients of a loss, [1, 1]. Throws ShapeError for another shape, or when nothing learned led to it.
template <class Scalar>
Gradients<Scalar> backward(const Var<Scalar>& loss) {
  expect_equal("backward: rows of the loss", loss.rows(), 1, "or give d_y, the gradient to begin with");
  expect_equal("backward: columns of the loss", loss.cols(), 1, "or give d_y, the gradient to begin with");
  if (!loss.learns()) {
    throw ShapeError(
        "backward: the loss is a constant, expected one made of variables; begin the step with "
        "tape.input(x)");
  }
  return backward(loss, Matrix<Scalar>::Ones(1, 1));
}

}  // namespace headwise::autograd
