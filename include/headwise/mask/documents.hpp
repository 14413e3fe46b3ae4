#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/policy.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headwise::mask {

namespace detail {

/// The ids of queries and keys, one for each row of the caller's matrices.
struct DocumentIds {
  std::vector<TokenId> keys;
  std::vector<TokenId> other_queries;  ///< empty when queries and keys are the same rows
  bool shared = true;

  const std::vector<TokenId>& queries() const noexcept { return shared ? keys : other_queries; }

  void check(std::string_view mask, const Context& context) const {
    const auto expect_one_a_row = [&](std::string_view side, Index ids, Range rows) {
      const bool last = context.sequence == context.sequences - 1;
      if (last ? ids == rows.end : ids >= rows.end) return;
      fail_shape(std::string(mask).append(": number of ").append(side).append(" ids"), std::to_string(ids),
                 std::to_string(rows.end), std::string("give one id for each row of ").append(side));
    };
    expect_one_a_row("query", Index(queries().size()), context.query_rows);
    expect_one_a_row("key", Index(keys.size()), context.key_rows);
  }
};

/// The test that both masks of this file share, for one sequence.
struct BoundDocumentIds {
  static constexpr Coordinates coordinates = Coordinates::rows;

  const TokenId *query_ids = nullptr, *key_ids = nullptr;  ///< of the sequence's first row

  BoundDocumentIds(const DocumentIds& ids, const Context& context) noexcept
      : query_ids(ids.queries().data() + context.query_rows.begin),
        key_ids(ids.keys.data() + context.key_rows.begin) {}

  bool allows(Index query, Index key) const noexcept { return query_ids[query] == key_ids[key]; }

  /// Ids whose ranges are apart cannot be equal, and ranges of one id each are equal or apart.
  Coverage coverage(Tile tile) const noexcept {
    if (tile.queries.empty() || tile.keys.empty()) return Coverage::none;
    const auto [least, most] =
        std::minmax_element(query_ids + tile.queries.begin, query_ids + tile.queries.end);
    const auto [key_least, key_most] =
        std::minmax_element(key_ids + tile.keys.begin, key_ids + tile.keys.end);
    if (*key_most < *least || *most < *key_least) return Coverage::none;
    return *least == *most && *key_least == *key_most ? Coverage::full : Coverage::partial;
  }
};

}  // namespace detail

/// Several documents packed into one sequence: a token sees the tokens of its own document.
///
///     allows(query, key)  <=>  id[query row] == id[key row]
///
/// The keys of a document lie together, so that a query sees one run of keys and the rest is skipped. With
/// `&& Causal{}` this is packed language modelling. Documents alone in a batch are better given as
/// RaggedRows. Cost: the sum of the squared lengths of the documents; finding a run takes O(log documents).
/// Throws ShapeError when there is not one id a row, or when the keys of a document come back after those of
/// another in the same sequence: ScatteredDocuments serves those.
/// Paper: Krell et al., "Efficient Sequence Packing without Cross-contamination", 2021.
class Documents {
 public:
  /// ids [rows]: one list for queries and keys, as in self-attention.
  explicit Documents(std::vector<TokenId> ids) : ids_{std::move(ids), {}, true} { find_segments(); }
  /// query_ids [rows of query], key_ids [rows of key].
  Documents(std::vector<TokenId> query_ids, std::vector<TokenId> key_ids)
      : ids_{std::move(key_ids), std::move(query_ids), false} {
    find_segments();
  }

  class Bound : public detail::BoundDocumentIds {
   public:
    Bound(const Documents& documents, const Context& context) noexcept
        : BoundDocumentIds(documents.ids_, context),
          documents_(&documents),
          key_begin_(context.key_rows.begin) {}

    Runs<1> runs(Index query) const noexcept {
      const Range seen = documents_->segment(query_ids[query], key_begin_);
      return single_run(seen.begin - key_begin_, seen.end - key_begin_);
    }

   private:
    const Documents* documents_;
    Index key_begin_;
  };

  Bound bind(const Context& context) const noexcept { return Bound(*this, context); }

  void check(const Context& context) const {
    ids_.check("Documents", context);
    for (Index row = context.key_rows.begin; row < context.key_rows.end;) {
      const TokenId id = ids_.keys[std::size_t(row)];
      row = segment(id, row).end;
      const Range again = intersect(segment(id, row), context.key_rows);
      if (again.empty()) continue;
      fail_shape("Documents: id of key row " + std::to_string(again.begin), std::to_string(id),
                 "a document that has not ended before it in its sequence",
                 "keep the rows of a document together, or use mask::ScatteredDocuments");
    }
  }

 private:
  /// Consecutive key rows of one document.
  struct Segment {
    TokenId id = 0;
    Range rows;
  };

  /// The first segment of the document that ends after the key row; empty when there is none.
  Range segment(TokenId id, Index row) const noexcept {
    const auto found = std::partition_point(segments_.begin(), segments_.end(), [&](const Segment& each) {
      return std::pair(each.id, each.rows.end) <= std::pair(id, row);
    });
    return found != segments_.end() && found->id == id ? found->rows : Range{};
  }

  void find_segments() {
    const auto& ids = ids_.keys;
    for (std::size_t begin = 0, end = 0; begin < ids.size(); begin = end) {
      while (end < ids.size() && ids[end] == ids[begin]) ++end;
      segments_.push_back({ids[begin], {Index(begin), Index(end)}});
    }
    std::sort(segments_.begin(), segments_.end(), [](const Segment& a, const Segment& b) {
      return std::pair(a.id, a.rows.begin) < std::pair(b.id, b.rows.begin);
    });
  }

  detail::DocumentIds ids_;
  std::vector<Segment> segments_;  ///< by id, then by row
};

/// Documents whose rows need not lie together, as when turns of several conversations are interleaved.
///
///     allows(query, key)  <=>  id[query row] == id[key row]
///
/// Cost: a tile is skipped when the ids of its queries and keys span ranges that are apart, and trusted when
/// all are one id; every other pair is tested. Throws ShapeError when there is not one id a row.
class ScatteredDocuments {
 public:
  /// ids [rows]: one list for queries and keys, as in self-attention.
  explicit ScatteredDocuments(std::vector<TokenId> ids) : ids_{std::move(ids), {}, true} {}
  /// query_ids [rows of query], key_ids [rows of key].
  ScatteredDocuments(std::vector<TokenId> query_ids, std::vector<TokenId> key_ids)
      : ids_{std::move(key_ids), std::move(query_ids), false} {}

  detail::BoundDocumentIds bind(const Context& context) const noexcept { return {ids_, context}; }
  void check(const Context& context) const { ids_.check("ScatteredDocuments", context); }

 private:
  detail::DocumentIds ids_;
};

}  // namespace headwise::mask
