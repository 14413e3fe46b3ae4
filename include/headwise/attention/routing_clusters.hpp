#pragma once

#include <headwise/attention/k_means.hpp>
#include <headwise/core/mask_queries.hpp>
#include <headwise/core/ragged_rows.hpp>
#include <headwise/kernel/plan.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace headwise {

/// The tokens that each cluster has chosen, a sequence and head at a time: clusters of equal size, one under
/// the other, each in ascending order.
struct RoutingClusters {
  Index clusters = 0, heads = 1;
  RaggedRows rows;                    ///< the sequences of tokens
  RaggedRows slots;                   ///< [sequence]: clusters * min(window, length) places
  std::vector<std::int32_t> members;  ///< [head][slot]: a row of the slot's sequence

  /// The tokens of all clusters of one sequence and head.
  std::span<const std::int32_t> of(Index sequence, Index head) const {
    const Range r = slots[sequence];
    return std::span(members).subspan(std::size_t(head * slots.rows() + r.begin), std::size_t(r.size()));
  }
  /// Tokens in each cluster of one sequence.
  Index size(Index sequence) const { return slots[sequence].size() / clusters; }
};

/// Every cluster takes the `window` tokens of each sequence that its centroid has the largest dot products
/// with; the lower row first of equals. A token may be in several clusters, or in none.
///
/// x [n, heads * head_dim], centroids [clusters, heads * head_dim]. A sequence shorter than the window is in
/// every cluster as a whole. Which tokens a cluster takes depends on all of them, later ones too.
/// Throws ShapeError when window is not positive or the shapes do not fit.
/// Cost: 2 n clusters head_dim FLOPs a head, and the selection.
/// Paper: Roy et al., "Efficient Content-Based Sparse Attention with Routing Transformers", 2020,
/// section 4.1.
template <RealMatrix X>
RoutingClusters routing_clusters(const X& x, const Matrix<scalar_of<X>>& centroids, Index window,
                                 Index heads = 1, const RaggedRows& rows = {}) {
  attention::check_centroids("routing_clusters", x, centroids, heads);
  expect_positive("routing_clusters: window", window, "the number of tokens a cluster takes");
  RoutingClusters result;
  result.clusters = centroids.rows();
  result.heads = heads;
  result.rows = rows.over(x.rows(), "routing_clusters: x");
  std::vector<Index> lengths;
  for (Index s = 0; s < result.rows.sequences(); ++s)
    lengths.push_back(result.clusters * std::min(window, result.rows[s].size()));
  result.slots = RaggedRows::from_lengths(lengths);
  result.members.reserve(std::size_t(heads * result.slots.rows()));
  std::vector<std::int32_t> order;
  for (Index head = 0; head < heads; ++head) {
    const Matrix<scalar_of<X>> similar = attention::similarities(x, centroids, heads, head);
    for (Index s = 0; s < result.rows.sequences(); ++s) {
      const Range tokens = result.rows[s];
      const Index size = result.size(s);
      for (Index c = 0; c < result.clusters; ++c) {
        order.resize(std::size_t(tokens.size()));
        std::iota(order.begin(), order.end(), 0);
        const auto nearer = [&](std::int32_t a, std::int32_t b) {
          const auto x_a = math::real(similar(tokens.begin + a, c));
          const auto x_b = math::real(similar(tokens.begin + b, c));
          return x_a != x_b ? x_a > x_b : a < b;
        };
        std::nth_element(order.begin(), order.begin() + size, order.end(), nearer);
        std::sort(order.begin(), order.begin() + size);
        result.members.insert(result.members.end(), order.begin(), order.begin() + size);
      }
    }
  }
  return result;
}

namespace attention {

/// The pairs of slots that a mask of tokens allows. Refers to everything it is made of.
template <MaskPolicy Mask>
class RoutedPairs {
 public:
  static constexpr bool reads_query = false;
  static constexpr bool reads_head = true;

  /// keys: [head][key slot], the token's row, or -1 for what every query of the cluster may see.
  RoutedPairs(const RoutingClusters& queries, const RaggedRows& key_slots,
              const std::vector<std::int32_t>& keys, bool hides_self, const Mask& mask)
      : queries_(&queries), key_slots_(&key_slots), keys_(&keys), hides_self_(hides_self), mask_(&mask) {}

  template <class Test>
  struct Bound {
    const std::int32_t *queries, *keys;
    bool hides_self;
    Test mask;

    static Place token(std::int32_t row) noexcept { return {row, row}; }

    bool allows(Place query, Place key) const {
      const std::int32_t q = queries[query.row], k = keys[key.row];
      if (k < 0) return true;
      return !(hides_self && q == k) && headwise::allows(mask, token(q), token(k));
    }

    /// Tiles lie within a cluster, whose rows ascend: the box of its corners is asked about.
    Coverage coverage(const PlaceTile& tile) const {
      const Range q = tile.rows.queries, k = tile.rows.keys;
      if (keys[k.begin] < 0) return Coverage::partial;
      const Tile rows{{queries[q.begin], queries[q.end - 1] + 1}, {keys[k.begin], keys[k.end - 1] + 1}};
      const Coverage answer = coverage_of(mask, PlaceTile{rows, rows});
      const bool meet = !intersect(rows.queries, rows.keys).empty();
      return answer == Coverage::full && hides_self && meet ? Coverage::partial : answer;
    }
  };

  void check(const Context& context) const { check_mask(*mask_, tokens(context)); }

  auto bind(const Context& context) const {
    const auto slot = [&](const RaggedRows& slots) {
      return context.head * slots.rows() + slots[context.sequence].begin;
    };
    return Bound<BoundMask<Mask>>{queries_->members.data() + slot(queries_->slots),
                                  keys_->data() + slot(*key_slots_), hides_self_,
                                  bind_mask(*mask_, tokens(context))};
  }

 private:
  Context tokens(Context context) const {
    const Range rows = queries_->rows[context.sequence];
    context.query_rows = context.key_rows = rows;
    context.relative = {1 - rows.size(), rows.size()};
    return context;
  }

  const RoutingClusters* queries_;
  const RaggedRows* key_slots_;
  const std::vector<std::int32_t>* keys_;
  bool hides_self_;
  const Mask* mask_;
};

}  // namespace attention
}  // namespace headwise
