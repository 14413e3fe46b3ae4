#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/tile.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace headwise {

/// Rows of one sequence: contiguous, affine (first, first + stride, ...) or an explicit list.
class RowList {
 public:
  RowList() = default;

  static RowList contiguous(Range rows) { return affine(rows.begin, 1, rows.size()); }

  /// Throws ShapeError when count is negative or the stride is zero.
  static RowList affine(Index first, Index stride, Index count) {
    expect_not_negative("RowList: count", count);
    if (stride == 0) fail_shape("RowList: stride", "0", "a number other than zero");
    RowList list;
    list.first_ = first;
    list.stride_ = stride;
    list.count_ = count;
    return list;
  }

  static RowList of(std::vector<Index> rows) {
    RowList list;
    list.count_ = Index(rows.size());
    list.stride_ = 0;
    list.rows_ = std::move(rows);
    return list;
  }

  Index size() const noexcept { return count_; }
  Index operator[](Index i) const noexcept {
    return stride_ != 0 ? first_ + i * stride_ : rows_[std::size_t(i)];
  }

  /// An arithmetic sequence, which lists no row twice.
  bool is_affine() const noexcept { return stride_ != 0; }

  /// Neighbours in the list are neighbours in the sequence.
  bool is_contiguous() const noexcept { return stride_ == 1; }

  /// The smallest range that holds the entries [begin, end) of the list.
  Range bounds(Index begin, Index end) const noexcept {
    if (begin >= end) return {};
    if (stride_ != 0) {
      const Index a = (*this)[begin], b = (*this)[end - 1];
      return {std::min(a, b), std::max(a, b) + 1};
    }
    const auto [low, high] = std::minmax_element(rows_.begin() + begin, rows_.begin() + end);
    return {*low, *high + 1};
  }

 private:
  Index first_ = 0, stride_ = 1, count_ = 0;
  std::vector<Index> rows_;
};

/// One piece of work: these queries look at these keys; the mask is asked about each pair by its original
/// positions and rows, wherever the kernel has gathered them.
struct PlanItem {
  RowList queries, keys;
};

/// What one head of one sequence computes. A query in several items gets one softmax over all their keys.
/// A key that occurs twice for a query counts twice; a query that occurs in no item sees nothing.
struct Plan {
  std::vector<PlanItem> items;

  /// Every query looks at every key; what the mask never allows is skipped.
  static Plan dense(Index q_len, Index k_len) {
    return {{{RowList::contiguous({0, q_len}), RowList::contiguous({0, k_len})}}};
  }
};

/// The plans of a call: one for all, one a head, one a sequence, or one for each (sequence, head),
/// sequence-major.
struct Plans {
  std::vector<Plan> plans;
  Index heads = 1;      ///< 1: all heads share a plan
  Index sequences = 1;  ///< 1: all sequences share a plan

  const Plan& at(Index sequence, Index head) const {
    return plans[std::size_t((sequences == 1 ? 0 : sequence) * heads + (heads == 1 ? 0 : head))];
  }
};

namespace kernel {

/// Throws ShapeError when a row of the list lies outside [0, rows), or a query is listed twice in one item.
template <class Name>
void check_rows(const RowList& list, Index rows, const Name& name) {
  if (list.size() == 0) return;
  const Range bounds = list.bounds(0, list.size());
  if (bounds.begin < 0) fail_shape(name(), std::to_string(bounds.begin), "zero or more");
  if (bounds.end > rows) fail_shape(name(), std::to_string(bounds.end - 1), "below " + std::to_string(rows));
}

inline void check_plan(const Plan& plan, Index q_len, Index k_len) {
  std::vector<std::size_t> last_item;  // that listed a query, counted from 1
  for (std::size_t i = 0; i < plan.items.size(); ++i) {
    const PlanItem& item = plan.items[i];
    const auto name = [&](const char* what) { return "Plan: items[" + std::to_string(i) + "] " + what; };
    check_rows(item.queries, q_len, [&] { return name("query row"); });
    check_rows(item.keys, k_len, [&] { return name("key row"); });
    if (item.queries.is_affine()) continue;
    last_item.resize(std::size_t(q_len));
    for (Index j = 0; j < item.queries.size(); ++j) {
      const auto row = std::size_t(item.queries[j]);
      if (last_item[row] == i + 1)
        fail_shape(name("query row ") + std::to_string(row), "listed twice", "once");
      last_item[row] = i + 1;
    }
  }
}

}  // namespace kernel
}  // namespace headwise
