#pragma once

#include <headwise/attention/block_scores.hpp>
#include <headwise/attention/sinkhorn_backward.hpp>
#include <headwise/autograd/record.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace headwise::autograd {

/// One matrix for each head of each sequence, as variables: headwise::BlockMatrices on a tape.
template <class Scalar>
using BlockVars = std::vector<Var<Scalar>>;

namespace detail {

/// All numbers end to end, [count, 1].
template <class Scalar>
Matrix<Scalar> end_to_end(const BlockMatrices<Scalar>& blocks) {
  Index count = 0;
  for (const Matrix<Scalar>& each : blocks) count += each.size();
  Matrix<Scalar> all(count, 1);
  Scalar* to = all.data();
  for (const Matrix<Scalar>& each : blocks) to = std::copy_n(each.data(), each.size(), to);
  return all;
}

/// The other way round.
template <class Scalar>
BlockMatrices<Scalar> apart(const Matrix<Scalar>& all, const std::vector<std::pair<Index, Index>>& shapes) {
  BlockMatrices<Scalar> blocks;
  const Scalar* from = all.data();
  for (const auto& [rows, cols] : shapes) {
    Matrix<Scalar>& block = blocks.emplace_back(rows, cols);
    std::copy_n(from, block.size(), block.data());
    from += block.size();
  }
  return blocks;
}

template <class Scalar>
BlockVars<Scalar> as_block_vars(Tape<Scalar>& tape, const BlockVars<Scalar>& blocks) {
  for (const Var<Scalar>& each : blocks) (void)as_var<Scalar>(tape, each);
  return blocks;
}
template <class Scalar>
BlockVars<Scalar> as_block_vars(Tape<Scalar>& tape, const BlockMatrices<Scalar>& blocks) {
  BlockVars<Scalar> vars;
  for (const Matrix<Scalar>& each : blocks) vars.push_back(tape.constant(each));
  return vars;
}

}  // namespace detail

/// How much each block of queries has in common with each block of keys, recorded: see
/// headwise::block_scores.
///
/// One node computes all of them, and their gradients at once; each matrix is a view of it.
template <class Q, class K>
requires Recorded<Q, K>
auto block_scores(const Q& query, const K& key, Index block_len, Index heads = 1,
                  BlockQuery kind = BlockQuery::mean, const RaggedRows& batch = {}) {
  const auto operands = detail::as_vars(query, key);
  using Scalar = scalar_of<decltype(operands[0])>;
  Tape<Scalar>& tape = operands[0].tape();
  BlockMatrices<Scalar> scores =
      headwise::block_scores(operands[0].value(), operands[1].value(), block_len, heads, kind, batch);
  std::vector<std::pair<Index, Index>> shapes;
  for (const Matrix<Scalar>& each : scores) shapes.emplace_back(each.rows(), each.cols());
  const Var<Scalar> all = tape.record(
      detail::end_to_end(scores), operands,
      [operands, shapes, block_len, heads, kind, batch](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
        auto gradients =
            headwise::block_scores_backward(operands[0].value(), operands[1].value(),
                                            detail::apart(d, shapes), block_len, heads, kind, batch);
        sweep.add(operands[0], std::move(gradients.query));
        sweep.add(operands[1], std::move(gradients.key));
      });
  BlockVars<Scalar> result;
  Index first = 0;
  for (Matrix<Scalar>& each : scores) {
    const Index size = each.size();
    result.push_back(
        tape.record(std::move(each), {all}, [all, first](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
          Scalar* to = sweep.sum(all).data() + first;
          for (Index i = 0; i < d.size(); ++i) to[i] += d.data()[i];
        }));
    first += size;
  }
  return result;
}

/// Sinkhorn balancing, recorded: gradients go through every iteration. See headwise::sinkhorn.
template <class Scalar>
Var<Scalar> sinkhorn(const Var<Scalar>& scores, const SinkhornOptions& options = {},
                     const std::type_identity_t<Matrix<Scalar>>& noise = {}) {
  return scores.tape().record(headwise::sinkhorn(scores.value(), options, noise), {scores},
                              [scores, options, noise](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                                sweep.add(scores,
                                          headwise::sinkhorn_backward(scores.value(), d, options, noise));
                              });
}

/// The best blocks as weights, recorded; which ones are best is a constant. See headwise::best_blocks.
template <class Scalar>
Var<Scalar> best_blocks(const Var<Scalar>& scores, Index count) {
  return scores.tape().record(headwise::best_blocks(scores.value(), count), {scores},
                              [scores, count](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                                sweep.add(scores, headwise::best_blocks_backward(scores.value(), d, count));
                              });
}

namespace detail {

/// Sinkhorn attention over operands query, key and value, null_key and null_value if `has_null`, and then the
/// weights.
template <class Scalar, class Mask>
AttendedOutput<Scalar> recorded_sinkhorn(std::vector<Var<Scalar>> operands, bool has_null, Index block_len,
                                         SinkhornReach reach, const AttendOptions& options,
                                         const Mask& mask) {
  Tape<Scalar>& tape = operands[0].tape();
  const std::size_t first_weight = has_null ? 5 : 3;
  const auto weights = [operands, first_weight] {
    BlockMatrices<Scalar> result;
    for (std::size_t i = first_weight; i < operands.size(); ++i) result.push_back(operands[i].value());
    return result;
  };
  const auto number = [operands](std::size_t i) -> const Matrix<Scalar>& { return operands[i].value(); };
  Attended<Scalar> attended =
      has_null ? headwise::attend_sinkhorn(number(0), number(1), number(2), weights(), block_len, reach,
                                           options, mask, number(3), number(4))
               : headwise::attend_sinkhorn(number(0), number(1), number(2), weights(), block_len, reach,
                                           options, mask);
  const std::size_t node = tape.size();
  return {tape.record(std::move(attended.output), operands,
                      [operands, number, weights, first_weight, has_null, block_len, reach, options, mask,
                       node, lse = std::move(attended.lse)](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                        const Attended<Scalar> result{operands[0].tape().value(node), lse};
                        auto gradients = has_null ? headwise::attend_sinkhorn_backward(
                                                        number(0), number(1), number(2), weights(), block_len,
                                                        result, d, reach, options, mask, number(3), number(4))
                                                  : headwise::attend_sinkhorn_backward(
                                                        number(0), number(1), number(2), weights(), block_len,
                                                        result, d, reach, options, mask);
                        sweep.add(operands[0], std::move(gradients.query));
                        sweep.add(operands[1], std::move(gradients.key));
                        sweep.add(operands[2], std::move(gradients.value));
                        if (has_null) {
                          sweep.add(operands[3], std::move(gradients.null_key));
                          sweep.add(operands[4], std::move(gradients.null_value));
                        }
                        for (std::size_t i = 0; i < gradients.weights.size(); ++i)
                          sweep.add(operands[first_weight + i], std::move(gradients.weights[i]));
                      })};
}

/// Variables, and behind them the weights as such.
template <class Vars, class Weight>
auto with_weights(const Vars& vars, const std::vector<Weight>& weights) {
  std::vector<typename Vars::value_type> operands(vars.begin(), vars.end());
  const auto blocks = as_block_vars(vars[0].tape(), weights);
  operands.insert(operands.end(), blocks.begin(), blocks.end());
  return operands;
}

}  // namespace detail

/// Sparse Sinkhorn attention, recorded as one node: see headwise::attend_sinkhorn.
///
/// Query, key and value may be variables, parameters or matrices; weights BlockVars, through which the
/// sorting learns, or BlockMatrices. It keeps one number a row and head; `mask` and an executor must be
/// usable as long as the tape. Cost: backward 2.5 times forward.
template <class Q, class K, class V, class Weight, MaskPolicy Mask = mask::None>
requires Recorded<Q, K, V>
auto attend_sinkhorn(const Q& query, const K& key, const V& value, const std::vector<Weight>& weights,
                     Index block_len, SinkhornReach reach = SinkhornReach::own_blocks,
                     const AttendOptions& options = {}, const Mask& mask = {}) {
  return detail::recorded_sinkhorn(detail::with_weights(detail::as_vars(query, key, value), weights), false,
                                   block_len, reach, options, mask);
}

/// The same with a null block, which learns where it is a parameter or variable.
template <class Q, class K, class V, class Weight, MaskPolicy Mask, class NullKey, class NullValue>
requires Recorded<Q, K, V, NullKey, NullValue>
auto attend_sinkhorn(const Q& query, const K& key, const V& value, const std::vector<Weight>& weights,
                     Index block_len, SinkhornReach reach, const AttendOptions& options, const Mask& mask,
                     const NullKey& null_key, const NullValue& null_value) {
  return detail::recorded_sinkhorn(
      detail::with_weights(detail::as_vars(query, key, value, null_key, null_value), weights), true,
      block_len, reach, options, mask);
}

}  // namespace headwise::autograd
