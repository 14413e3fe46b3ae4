#include <headwise/attention/explain.hpp>
#include <headwise/attention/routing.hpp>
#include <headwise/attention/strided.hpp>
#include <headwise/core/random.hpp>
#include <headwise/mask/fixed.hpp>

#include "report/sparse.hpp"
#include "report/sparse_sizes.hpp"

#include <utility>

namespace headwise::report {

namespace {

SparseCall strided_call(const Operands& x) {
  const Index length = x.query.rows(), stride = root_of(length);
  return {[&x, stride] { return attend_strided(stride, x.query, x.key, x.value).output(0, 0); },
          [length, stride] {
            const AttendOptions options;
            const attention::StridedHalves<mask::None> halves(stride, length, length, options, {});
            return explain(shape_of(length), options, halves.near).pairs +
                   explain(shape_of(length), options, halves.far, &halves.classes).pairs;
          }};
}

SparseCall fixed_call(const Operands& x) {
  const Index length = x.query.rows();
  Plans plans;
  plans.plans.push_back(mask::Fixed{.stride = root_of(length), .summaries = 1}.plan_with_own_block(length));
  return {
      [&x, plans] { return attend_over(plans, x.query, x.key, x.value, {}, mask::Causal{}).output(0, 0); },
      [plans, length] { return explain(shape_of(length), {}, mask::Causal{}, &plans).pairs; }};
}

/// One matrix is query and key, as causal routing wants it; choosing the clusters is part of the call.
SparseCall routing_call(const Operands& x) {
  const Index clusters = root_of(x.query.rows()), window = x.query.rows() / clusters;
  Rng rng(5);
  const Matrix<float> tokens = standard_heads(x.query, 1);
  const Matrix<float> centroids = standard_heads(normal(clusters, head_dim, 1.0f, rng), 1);
  return {
      [&x, tokens, centroids, window] {
        const RoutingClusters chosen = routing_clusters(tokens, centroids, window);
        return attend_routing(tokens, tokens, x.value, chosen, chosen, {}, {}, mask::Causal{}).output(0, 0);
      },
      [&x, tokens, centroids, window] {
        const RoutingClusters chosen = routing_clusters(tokens, centroids, window);
        const mask::Causal mask;
        const attention::RoutingCall<float, mask::Causal> call(tokens, tokens, x.value, chosen, chosen, {},
                                                               {}, {}, mask);
        return explain(shape_of(chosen.slots.rows()), call.options(), call.pairs(), &call.plans()).pairs;
      }};
}

SparseCall full_call(const Operands& x) {
  const Index length = x.query.rows();
  return {[&x] { return attend(x.query, x.key, x.value, mask::Causal{})(0, 0); },
          [length] { return explain(shape_of(length), {}, mask::Causal{}).pairs; }};
}

}  // namespace

SparseCall make_causal_call(SparsePattern pattern, const Operands& x) {
  switch (pattern) {
    case SparsePattern::strided:
      return strided_call(x);
    case SparsePattern::fixed:
      return fixed_call(x);
    case SparsePattern::routing:
      return routing_call(x);
    default:
      return full_call(x);
  }
}

}  // namespace headwise::report
