#pragma once

#include <headwise/attention/attend_backward.hpp>
#include <headwise/attention/routing.hpp>

namespace headwise {

/// What backward through routing attention returns.
template <class Scalar>
struct RoutingGradients {
  Matrix<Scalar> query, key, value;
  RoutingMemory<Scalar> memory;  ///< empty when there was none
};

/// The gradients of sum(output * d_output) for attend_routing, whose result is `routed`.
///
/// Every cluster goes backward with its own log-sum-exp and the share d_output / count of each of its
/// queries. Clusters are constants. Arguments and errors as attend_routing.
template <RealMatrix Q, RealMatrix K, RealMatrix V, RealMatrix D, MaskPolicy Mask = mask::None>
requires SameScalar<Q, K, V, D> RoutingGradients<scalar_of<Q>> attend_routing_backward(
    const Q& query, const K& key, const V& value, const RoutingClusters& queries, const RoutingClusters& keys,
    const Routed<scalar_of<Q>>& routed, const D& d_output, const RoutingOptions& routing = {},
    const AttendOptions& options = {}, const Mask& mask = {},
    const RoutingMemory<scalar_of<Q>>& memory = {}) {
  using Scalar = scalar_of<Q>;
  using Real = math::real_of<Scalar>;
  const attention::RoutingCall<Scalar, Mask> call(query, key, value, queries, keys, memory, routing, options,
                                                  mask);
  expect_equal("attend_routing_backward: d_output rows", d_output.rows(), query.rows(),
               "the shape of output");
  expect_equal("attend_routing_backward: d_output columns", d_output.cols(), value.cols(),
               "the shape of output");
  const Index dim = query.cols() / options.heads, value_dim = value.cols() / options.heads;
  Matrix<Scalar> d(call.query().rows(), value.cols());
  call.for_each_query([&](const auto& each) {
    auto share = d.row(each.slot).segment(each.head * value_dim, value_dim);
    const Scalar& count = routed.counts(each.row, each.head);
    if (count == Scalar(0)) {
      share.setZero();
    } else {
      share = d_output.row(each.row).segment(each.head * value_dim, value_dim) /
              (count + Scalar(Real(routing.count_epsilon)));
    }
  });
  AttendGradients<Scalar> slots = attend_over_backward(call.plans(), call.query(), call.key(), call.value(),
                                                       routed.clusters, d, call.options(), call.pairs());

  RoutingGradients<Scalar> gradients{Matrix<Scalar>::Zero(query.rows(), query.cols()),
                                     Matrix<Scalar>::Zero(key.rows(), key.cols()),
                                     Matrix<Scalar>::Zero(value.rows(), value.cols()),
                                     {Matrix<Scalar>::Zero(memory.key.rows(), memory.key.cols()),
                                      Matrix<Scalar>::Zero(memory.value.rows(), memory.value.cols())}};
  call.for_each_query([&](const auto& each) {
    gradients.query.row(each.row).segment(each.head * dim, dim) +=
        slots.query.row(each.slot).segment(each.head * dim, dim);
    const Index self = call.self_of(each, routed.clusters.lse(each.slot, each.head));
    if (self >= 0)
      slots.value.row(self).segment(each.head * value_dim, value_dim) +=
          d.row(each.slot).segment(each.head * value_dim, value_dim);
  });
  call.for_each_key([&](Index head, Index slot, Index row) {
    Matrix<Scalar>& to_key = row >= 0 ? gradients.key : gradients.memory.key;
    Matrix<Scalar>& to_value = row >= 0 ? gradients.value : gradients.memory.value;
    const Index to = row >= 0 ? row : -1 - row;
    to_key.row(to).segment(head * dim, dim) += slots.key.row(slot).segment(head * dim, dim);
    to_value.row(to).segment(head * value_dim, value_dim) +=
        slots.value.row(slot).segment(head * value_dim, value_dim);
  });
  return gradients;
}

}  // namespace headwise
