#pragma once

#include <headwise/attention/attend.hpp>
#include <headwise/attention/routing_clusters.hpp>

#include <string>
#include <utility>
#include <vector>

namespace headwise {

/// May a token look at itself?
enum class RoutingSelf {
  allowed,
  alone  ///< only where it sees nobody else in the cluster: for a shared query and key
};

struct RoutingOptions {
  RoutingSelf self = RoutingSelf::allowed;
  double count_epsilon = 0;  ///< added to the number of clusters that a token's outputs are averaged over
};

/// Keys and values of a head and cluster that every query of the cluster sees, whatever the mask says:
/// [clusters * count, heads * head_dim], cluster by cluster. Empty: none.
template <class Scalar>
struct RoutingMemory {
  Matrix<Scalar> key, value;
};

/// What routing attention returns, and what its backward reads.
template <class Scalar>
struct Routed {
  Matrix<Scalar> output;      ///< [n, heads * value_dim]
  Matrix<Scalar> counts;      ///< [n, heads]: in how many clusters a query saw something
  Attended<Scalar> clusters;  ///< one row a slot, before the average
};

namespace attention {

/// One call of routing attention: tokens gathered into slots, and a plan of one item a cluster.
template <class Scalar, class Mask>
class RoutingCall {
 public:
  template <class Q, class K, class V>
  RoutingCall(const Q& query, const K& key, const V& value, const RoutingClusters& queries,
              const RoutingClusters& keys, const RoutingMemory<Scalar>& memory, const RoutingOptions& routing,
              const AttendOptions& given, const Mask& mask)
      : queries_(queries), keys_(keys), routing_(routing), given_(given), mask_(mask) {
    check(query, key, value, memory);
    lay_out(memory.key.rows() / keys.clusters);
    shared_ = memory_ == 0 && is_same(query, key) && queries.members == keys.members;
    query_ = gathered_queries(query);
    if (!shared_) key_ = gathered(key, memory.key);
    value_ = gathered(value, memory.value);
  }

  const Matrix<Scalar>& query() const noexcept { return query_; }
  const Matrix<Scalar>& key() const noexcept { return shared_ ? query_ : key_; }
  const Matrix<Scalar>& value() const noexcept { return value_; }
  const Plans& plans() const noexcept { return plans_; }
  const AttendOptions& options() const noexcept { return options_; }
  RoutedPairs<Mask> pairs() const {
    return {queries_, key_slots_, key_rows_, routing_.self == RoutingSelf::alone, mask_};
  }

  /// A query of a cluster.
  struct Query {
    Index head, slot, row;
    Index sequence, at;  ///< place among the queries of all clusters of its sequence
  };

  /// body(query) for every slot, in order.
  template <class Body>
  void for_each_query(Body&& body) const {
    for (Index head = 0; head < queries_.heads; ++head) {
      for (Index s = 0; s < queries_.rows.sequences(); ++s) {
        const auto members = queries_.of(s, head);
        for (Index i = 0; i < Index(members.size()); ++i)
          body(Query{head, queries_.slots[s].begin + i, queries_.rows[s].begin + members[std::size_t(i)], s,
                     i});
      }
    }
  }

  /// body(head, key slot, row of the token, or -1 - row of the memory)
  template <class Body>
  void for_each_key(Body&& body) const {
    for (Index head = 0; head < keys_.heads; ++head) {
      for (Index s = 0; s < keys_.rows.sequences(); ++s) {
        const Index step = memory_ + keys_.size(s);
        for (Index slot = key_slots_[s].begin; slot < key_slots_[s].end; ++slot) {
          const Index row = key_rows_[std::size_t(head * key_slots_.rows() + slot)];
          const Index at = slot - key_slots_[s].begin;
          body(head, slot, row >= 0 ? keys_.rows[s].begin + row : -1 - (at / step * memory_ + at % step));
        }
      }
    }
  }

  /// The key slot of a query that its cluster gave nothing, if it may look at itself and its cluster holds
  /// it; else -1.
  Index self_of(const Query& query, const Scalar& lse) const {
    if (routing_.self != RoutingSelf::alone || math::real(lse) != -math::infinity<Scalar>) return -1;
    return key_slot_of(query.sequence, query.head, query.at,
                       std::int32_t(query.row - queries_.rows[query.sequence].begin));
  }

 private:
  template <class Q, class K, class V>
  void check(const Q& query, const K& key, const V& value, const RoutingMemory<Scalar>& memory) const {
    expect_positive("attend_routing: heads", given_.heads);
    if (given_.kv_heads != 0)
      expect_equal("attend_routing: kv_heads", given_.kv_heads, given_.heads, "every head has its clusters");
    if (given_.query_offset || !given_.query_positions.empty() || !given_.key_rows.whole()) {
      throw ShapeError(
          "attend_routing: query_offset, positions or key_rows are given, expected none of them; tokens look "
          "at each other, and go by their rows");
    }
    expect_multiple("attend_routing: query columns", query.cols(), given_.heads, "heads");
    expect_multiple("attend_routing: value columns", value.cols(), given_.heads, "heads");
    expect_equal("attend_routing: key columns", key.cols(), query.cols());
    expect_equal("attend_routing: key rows", key.rows(), query.rows(), "tokens look at each other");
    expect_equal("attend_routing: value rows", value.rows(), key.rows(), "one value a key");
    const RaggedRows rows = given_.query_rows.over(query.rows(), "attend_routing: query");
    for (const RoutingClusters* each : {&queries_, &keys_}) {
      expect_positive("attend_routing: clusters", each->clusters);
      expect_equal("attend_routing: heads of clusters", each->heads, given_.heads);
      if (each->rows.offsets() != rows.offsets())
        throw ShapeError(
            "attend_routing: the clusters are of other sequences, expected those of query_rows; give the "
            "same "
            "rows to routing_clusters");
    }
    expect_equal("attend_routing: clusters of keys", keys_.clusters, queries_.clusters);
    if (memory.key.size() == 0 && memory.value.size() == 0) return;
    expect_multiple("attend_routing: memory key rows", memory.key.rows(), keys_.clusters, "clusters");
    expect_equal("attend_routing: memory key columns", memory.key.cols(), key.cols());
    expect_equal("attend_routing: memory value rows", memory.value.rows(), memory.key.rows());
    expect_equal("attend_routing: memory value columns", memory.value.cols(), value.cols());
  }

  void lay_out(Index memory) {
    memory_ = memory;
    std::vector<Index> lengths;
    for (Index s = 0; s < keys_.rows.sequences(); ++s) {
      const Index size = keys_.size(s), step = memory_ + size, queries = queries_.size(s);
      lengths.push_back(keys_.clusters * step);
      Plan plan;
      for (Index c = 0; c < keys_.clusters; ++c)
        plan.items.push_back({RowList::contiguous({c * queries, (c + 1) * queries}),
                              RowList::contiguous({c * step, (c + 1) * step})});
      plans_.plans.push_back(std::move(plan));
    }
    plans_.sequences = keys_.rows.sequences();
    key_slots_ = RaggedRows::from_lengths(lengths);
    for (Index head = 0; head < keys_.heads; ++head) {
      for (Index s = 0; s < keys_.rows.sequences(); ++s) {
        const auto members = keys_.of(s, head);
        const auto size = std::ptrdiff_t(keys_.size(s));
        for (Index c = 0; c < keys_.clusters; ++c) {
          key_rows_.insert(key_rows_.end(), std::size_t(memory_), -1);
          key_rows_.insert(key_rows_.end(), members.begin() + c * size, members.begin() + (c + 1) * size);
        }
      }
    }
    options_ = given_;
    options_.query_rows = queries_.slots;
    options_.key_rows = key_slots_;
  }

  template <class Q, class K>
  static bool is_same(const Q& query, const K& key) {
    if constexpr (kernel::has_direct_access<Q> && kernel::has_direct_access<K>) {
      return query.data() == key.data() && query.rowStride() == key.rowStride() &&
             query.colStride() == key.colStride();
    } else {
      return false;
    }
  }

  Matrix<Scalar> gathered_queries(const ConstMatrixRef<Scalar>& x) const {
    Matrix<Scalar> out(queries_.slots.rows(), x.cols());
    const Index dim = x.cols() / given_.heads;
    for_each_query([&](const Query& q) { copy_head(x, q.row, q.head * dim, dim, out, q.slot); });
    return out;
  }

  Matrix<Scalar> gathered(const ConstMatrixRef<Scalar>& x, const Matrix<Scalar>& memory) const {
    Matrix<Scalar> out(key_slots_.rows(), x.cols());
    const Index dim = x.cols() / given_.heads;
    for_each_key([&](Index head, Index slot, Index row) {
      if (row >= 0) {
        copy_head(x, row, head * dim, dim, out, slot);
      } else {
        copy_head(memory, -1 - row, head * dim, dim, out, slot);
      }
    });
    return out;
  }

  template <class X>
  static void copy_head(const X& from, Index row, Index column, Index dim, Matrix<Scalar>& to, Index slot) {
    std::copy_n(from.data() + row * from.outerStride() + column, dim, to.data() + slot * to.cols() + column);
  }

  Index key_slot_of(Index sequence, Index head, Index slot, std::int32_t row) const {
    const Index c = slot / queries_.size(sequence), size = keys_.size(sequence);
    const auto cluster = keys_.of(sequence, head).subspan(std::size_t(c * size), std::size_t(size));
    const auto found = std::lower_bound(cluster.begin(), cluster.end(), row);
    if (found == cluster.end() || *found != row) return -1;
    return key_slots_[sequence].begin + c * (memory_ + size) + memory_ + Index(found - cluster.begin());
  }

  const RoutingClusters& queries_;
  const RoutingClusters& keys_;
  RoutingOptions routing_;
  AttendOptions given_, options_;
  const Mask& mask_;
  Index memory_ = 0;
  bool shared_ = false;  ///< key slots are query slots
  RaggedRows key_slots_;
  std::vector<std::int32_t> key_rows_;
  Plans plans_;
  Matrix<Scalar> query_, key_, value_;
};

}  // namespace attention

/// Routing attention: every cluster is a softmax of its own, and a token's outputs are averaged.
///
///     o_i = mean over clusters c that hold i and show it a key of
///           softmax over {j in keys of c : mask allows (i, j)} (scale query_i . key_j) value_j
///
/// query, key [n, heads * head_dim], value [n, heads * value_dim]: as they are compared, hence normalised
/// beforehand (standard_heads, unit_heads); causal attention takes one matrix as query and key. queries,
/// keys: from routing_clusters, often the same. A token in no cluster has zeros. Tokens are gathered into
/// slots, and the fused kernel runs one item a cluster; `mask` goes by the tokens' rows. Throws ShapeError
/// when the shapes, sequences or clusters do not fit. Cost: sum over clusters of queries times keys, n^1.5
/// pairs for sqrt(n) clusters of sqrt(n) tokens; half of it when causal. Paper: Roy et al., "Efficient
/// Content-Based Sparse Attention with Routing Transformers", 2020, section 4.1.
template <RealMatrix Q, RealMatrix K, RealMatrix V, MaskPolicy Mask = mask::None>
requires SameScalar<Q, K, V> Routed<scalar_of<Q>> attend_routing(
    const Q& query, const K& key, const V& value, const RoutingClusters& queries, const RoutingClusters& keys,
    const RoutingOptions& routing = {}, const AttendOptions& options = {}, const Mask& mask = {},
    const RoutingMemory<scalar_of<Q>>& memory = {}) {
  using Scalar = scalar_of<Q>;
  using Real = math::real_of<Scalar>;
  const attention::RoutingCall<Scalar, Mask> call(query, key, value, queries, keys, memory, routing, options,
                                                  mask);
  Routed<Scalar> routed;
  routed.clusters =
      attend_over(call.plans(), call.query(), call.key(), call.value(), call.options(), call.pairs());
  routed.counts = Matrix<Scalar>::Zero(query.rows(), options.heads);
  routed.output = Matrix<Scalar>::Zero(value.rows(), value.cols());
  const Index dim = value.cols() / options.heads;
  call.for_each_query([&](const auto& each) {
    const Scalar& lse = routed.clusters.lse(each.slot, each.head);
    auto out = routed.clusters.output.row(each.slot).segment(each.head * dim, dim);
    if (math::real(lse) == -math::infinity<Scalar>) {
      const Index self = call.self_of(each, lse);
      if (self < 0) return;
      out = call.value().row(self).segment(each.head * dim, dim);
    }
    routed.counts(each.row, each.head) += Scalar(1);
    routed.output.row(each.row).segment(each.head * dim, dim) += out;
  });
  for (Index row = 0; row < query.rows(); ++row) {
    for (Index head = 0; head < options.heads; ++head) {
      if (routed.counts(row, head) == Scalar(0)) continue;
      const Scalar share = routed.counts(row, head) + Scalar(Real(routing.count_epsilon));
      if (share != Scalar(1)) routed.output.row(row).segment(head * dim, dim) /= share;
    }
  }
  return routed;
}

}  // namespace headwise
