#pragma once

#include <headwise/attention/k_means.hpp>
#include <headwise/core/executor.hpp>
#include <headwise/core/mask_queries.hpp>
#include <headwise/core/ragged_rows.hpp>
#include <headwise/kernel/plan.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
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

namespace attention {

/// Finds the largest numbers of a row in linear time, most of it in lanes: the row is folded onto itself, and
/// only where a maximum reaches the threshold are the numbers beneath it looked at.
template <class Scalar>
class LargestOfRow {
 public:
  /// The places of the `count` largest of row[0, length), ascending; the earlier one of equals. A NaN is the
  /// least of all, and becomes -inf in the row.
  void find(Scalar* row, Index length, Index count, std::int32_t* to) {
    if (count == 0) return;
    transform_lanes(row, length, [](const Scalar& x) {
      return math::real(x) == math::real(x) ? x : Scalar(-math::infinity<Scalar>);
    });
    collect(row, length, count);
    if (Index(places_.size()) > count)
      std::nth_element(places_.begin(), places_.begin() + count, places_.end(),
                       [&](std::int32_t a, std::int32_t b) {
                         const auto x = math::real(row[a]), y = math::real(row[b]);
                         return x != y ? x > y : a < b;
                       });
    write_ascending(length, count, to);
  }

 private:
  /// Folds leave at least this many maxima for each number that is wanted.
  static constexpr Index maxima_each = 4;

  /// The places of all numbers that are no smaller than the count-th largest of the maxima.
  void collect(const Scalar* row, Index length, Index count) {
    const Index folds = std::max<Index>(1, length / (maxima_each * count));
    const Index step = (length + folds - 1) / folds;
    maxima_.assign(row, row + step);
    for (Index at = step; at < length; at += step)
      combine_lanes(maxima_.data(), row + at, std::min(step, length - at), Larger{});
    ordered_ = maxima_;
    std::nth_element(ordered_.begin(), ordered_.begin() + (count - 1), ordered_.end(),
                     [](const Scalar& a, const Scalar& b) { return math::real(a) > math::real(b); });
    const auto threshold = math::real(ordered_[std::size_t(count - 1)]);
    places_.clear();
    for (Index i = 0; i < step; ++i) {
      if (math::real(maxima_[std::size_t(i)]) < threshold) continue;
      for (Index at = i; at < length; at += step)
        if (math::real(row[at]) >= threshold) places_.push_back(std::int32_t(at));
    }
  }

  /// By a bit for each place of the row: cheaper than sorting.
  void write_ascending(Index length, Index count, std::int32_t* to) {
    bits_.assign(std::size_t(length / 64 + 1), 0);
    for (Index i = 0; i < count; ++i) {
      const auto place = std::size_t(places_[std::size_t(i)]);
      bits_[place / 64] |= std::uint64_t(1) << (place % 64);
    }
    for (std::size_t word = 0; word < bits_.size(); ++word)
      for (std::uint64_t bits = bits_[word]; bits != 0; bits &= bits - 1)
        *to++ = std::int32_t(word * 64) + std::countr_zero(bits);
  }

  std::vector<Scalar> maxima_, ordered_;
  std::vector<std::int32_t> places_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace attention

/// Every cluster takes the `window` tokens of each sequence that its centroid has the largest dot products
/// with; the lower row first of equals. A token may be in several clusters, or in none.
///
/// x [n, heads * head_dim], centroids [clusters, heads * head_dim]. A sequence shorter than the window is in
/// every cluster as a whole. Which tokens a cluster takes depends on all of them, later ones too; the same
/// for any executor. Throws ShapeError when window is not positive or the shapes do not fit. Cost: 2 n
/// clusters head_dim FLOPs a head, and a selection that is linear in n clusters. Paper: Roy et al.,
/// "Efficient Content-Based Sparse Attention with Routing Transformers", 2020, section 4.1.
template <RealMatrix X>
RoutingClusters routing_clusters(const X& x, const Matrix<scalar_of<X>>& centroids, Index window,
                                 Index heads = 1, const RaggedRows& rows = {},
                                 const Executor& executor = {}) {
  using Scalar = scalar_of<X>;
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
  result.members.resize(std::size_t(heads * result.slots.rows()));
  // Their similarities to some thousand tokens stay in the second-level cache.
  constexpr Index clusters_at_once = 64;
  const Index parts = (result.clusters + clusters_at_once - 1) / clusters_at_once;
  executor(heads * parts, [&](Index task) {
    const Index head = task / parts, first = task % parts * clusters_at_once;
    const Range clusters{first, std::min(first + clusters_at_once, result.clusters)};
    Matrix<Scalar> similar = attention::similarities(x, centroids, heads, head, clusters);
    attention::LargestOfRow<Scalar> largest;
    for (Index s = 0; s < result.rows.sequences(); ++s) {
      const Range tokens = result.rows[s];
      const Index size = result.size(s);
      std::int32_t* const members =
          result.members.data() + head * result.slots.rows() + result.slots[s].begin;
      for (Index c = clusters.begin; c < clusters.end; ++c)
        largest.find(similar.data() + (c - first) * similar.cols() + tokens.begin, tokens.size(), size,
                     members + c * size);
    }
  });
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
