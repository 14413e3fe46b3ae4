#pragma once

#include <headwise/attention/routing_backward.hpp>
#include <headwise/autograd/head_norm.hpp>
#include <headwise/autograd/record.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace headwise::autograd {

/// The clusters of a variable's numbers: no gradient flows through a choice. Centroids are matrices that
/// k-means moves (CentroidAverages::after of the variable's value), never a gradient.
template <class Scalar>
RoutingClusters routing_clusters(const Var<Scalar>& x, const std::type_identity_t<Matrix<Scalar>>& centroids,
                                 Index window, Index heads = 1, const RaggedRows& rows = {}) {
  return headwise::routing_clusters(x.value(), centroids, window, heads, rows);
}

/// The nearest centroids of a variable's numbers, without a gradient as well.
template <class Scalar>
NearestCentroids nearest_centroids(const Var<Scalar>& x,
                                   const std::type_identity_t<Matrix<Scalar>>& centroids, Index heads = 1) {
  return headwise::nearest_centroids(x.value(), centroids, heads);
}

/// What commitment returns on a tape: a loss [1, 1], whose gradient reaches x.
template <class Scalar>
struct CommitmentVar {
  Var<Scalar> loss;
};

/// The loss that draws tokens to their centroids, recorded: see headwise::commitment.
template <class Scalar>
CommitmentVar<Scalar> commitment(const Var<Scalar>& x, const std::type_identity_t<Matrix<Scalar>>& centroids,
                                 const NearestCentroids& nearest, double weight = 1e-4) {
  auto [loss, gradient] = headwise::commitment(x.value(), centroids, nearest, weight);
  return {x.tape().record(Matrix<Scalar>::Constant(1, 1, loss), {x},
                          [x, gradient = std::move(gradient)](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                            sweep.add(x, d(0, 0) * gradient);
                          })};
}

/// A cluster's own keys and values as variables: RoutingMemory that learns.
template <class Scalar>
struct RoutingMemoryVar {
  Var<Scalar> key, value;
};

/// Routing attention, recorded as one node: see headwise::attend_routing.
///
/// Query, key and value may be variables, parameters or matrices; memory a RoutingMemory, which is constant,
/// or a RoutingMemoryVar. It keeps the clusters, and output and log-sum-exp of every slot; `mask` and an
/// executor must be usable as long as the tape. Cost: backward 2.5 times forward.
template <class Q, class K, class V, MaskPolicy Mask = mask::None, class Memory = RoutingMemory<scalar_of<Q>>>
requires Recorded<Q, K, V>
auto attend_routing(const Q& query, const K& key, const V& value, const RoutingClusters& queries,
                    const RoutingClusters& keys, const RoutingOptions& routing = {},
                    const AttendOptions& options = {}, const Mask& mask = {}, const Memory& memory = {}) {
  const auto operands = detail::as_vars(query, key, value, memory.key, memory.value);
  using Scalar = scalar_of<decltype(operands[0])>;
  Tape<Scalar>& tape = operands[0].tape();
  const RoutingMemory<Scalar> kept{operands[3].value(), operands[4].value()};
  auto routed = std::make_shared<Routed<Scalar>>(
      headwise::attend_routing(operands[0].value(), operands[1].value(), operands[2].value(), queries, keys,
                               routing, options, mask, kept));
  const std::size_t node = tape.size();
  // The node holds the output: it is only lent to backward.
  return AttendedOutput<Scalar>{tape.record(std::move(routed->output), operands,
                                            [operands, queries, keys, routing, options, mask, kept, node,
                                             routed](Sweep<Scalar>& sweep, const Matrix<Scalar>& d) {
                                              routed->output = operands[0].tape().value(node);
                                              auto gradients = headwise::attend_routing_backward(
                                                  operands[0].value(), operands[1].value(),
                                                  operands[2].value(), queries, keys, *routed, d, routing,
                                                  options, mask, kept);
                                              routed->output.resize(0, 0);
                                              sweep.add(operands[0], std::move(gradients.query));
                                              sweep.add(operands[1], std::move(gradients.key));
                                              sweep.add(operands[2], std::move(gradients.value));
                                              sweep.add(operands[3], std::move(gradients.memory.key));
                                              sweep.add(operands[4], std::move(gradients.memory.value));
                                            })};
}

}  // namespace headwise::autograd
