#pragma once

#include <headwise/attention/lsh_backward.hpp>
#include <headwise/autograd/record.hpp>

#include <cstddef>
#include <utility>

namespace headwise::autograd {

/// The buckets of a variable's numbers: no gradient flows through a hash.
template <class Scalar>
LshBuckets lsh_buckets(const Var<Scalar>& x, const LshRotations<Scalar>& rotations) {
  return headwise::lsh_buckets(x.value(), rotations);
}
template <class Scalar>
LshBuckets lsh_buckets(const Var<Scalar>& x, const LshHashByLength& hash, const RaggedRows& rows = {}) {
  return headwise::lsh_buckets(x.value(), hash, rows);
}

/// LSH attention, recorded as one node: see headwise::attend_lsh. It keeps the buckets and one number a row
/// and head; `mask` and an executor must be usable as long as the tape. Cost: backward 2.5 times forward.
template <class Q, class V, MaskPolicy Mask = mask::None>
requires Recorded<Q, V>
auto attend_lsh(const Q& query, const V& value, const LshBuckets& buckets, const LshOptions& lsh,
                const AttendOptions& options = {}, const Mask& mask = {}) {
  const auto operands = detail::as_vars(query, value);
  using Scalar = scalar_of<decltype(operands[0])>;
  Tape<Scalar>& tape = operands[0].tape();
  Attended<Scalar> attended =
      headwise::attend_lsh(operands[0].value(), operands[1].value(), buckets, lsh, options, mask);
  const std::size_t node = tape.size();
  return AttendedOutput<Scalar>{
      tape.record(std::move(attended.output), operands,
                  [operands, buckets, lsh, options, mask, node, lse = std::move(attended.lse)](
                      Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                    const Attended<Scalar> result{operands[0].tape().value(node), lse};
                    auto gradients = headwise::attend_lsh_backward(operands[0].value(), operands[1].value(),
                                                                   buckets, lsh, result, d, options, mask);
                    sweep.add(operands[0], std::move(gradients.query));
                    sweep.add(operands[1], std::move(gradients.value));
                  })};
}

}  // namespace headwise::autograd
