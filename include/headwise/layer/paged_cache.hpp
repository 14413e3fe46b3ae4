#pragma once

#include <headwise/attention/paged.hpp>
#include <headwise/core/error.hpp>
#include <headwise/layer/key_value_cache.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headwise::layer {

struct PagedCacheOptions {
  Index page_size = 16;  ///< rows a page
};

/// A cache of many texts in pages of one pool: no row ever moves, texts end and their pages serve others, and
/// a text may begin as another one, whose full pages both then read.
///
///     row of position p of a text  =  pages[p / page_size] page_size + p % page_size
///
/// A value, one for each layer, that attention goes on from as from a KeyValueCache, with the same numbers.
/// The pool grows by doubling. Cost: a token is appended in amortised O(width), however many texts there are;
/// memory is that of the pages in use, less than a page a text more than its rows. Paper: Kwon et al.,
/// "Efficient Memory Management for Large Language Model Serving with PagedAttention", 2023, sections 4.1
/// and 4.3.
template <class Scalar>
class PagedCache {
 public:
  /// Pages of 16 rows.
  PagedCache() = default;

  /// Throws ShapeError when page_size is not positive.
  explicit PagedCache(const PagedCacheOptions& options) {
    expect_positive("PagedCache: page_size", options.page_size);
    pool_.page_size = options.page_size;
  }

  /// True until the first append, which decides the number of texts.
  bool empty() const noexcept { return tables_.empty(); }
  Index sequences() const noexcept { return Index(tables_.size()); }

  /// Tokens of a text.
  Index length(Index sequence) const {
    expect_text(sequence);
    return length_of(tables_[std::size_t(sequence)]);
  }

  /// Positions for `rows` new tokens a text: each goes on where its text ends.
  /// Throws ShapeError when the cache serves another number of texts.
  std::vector<Position> next_positions(const RaggedRows& rows) const {
    if (!empty()) {
      expect_equal("PagedCache: sequences", rows.sequences(), sequences(),
                   "give each text its rows, or none");
    }
    std::vector<Position> positions;
    positions.reserve(std::size_t(rows.rows()));
    for (Index s = 0; s < rows.sequences(); ++s) {
      const Index first = empty() ? 0 : length_of(tables_[std::size_t(s)]);
      if (first + rows[s].size() > std::numeric_limits<Position>::max()) {
        fail_shape("PagedCache: position", std::to_string(first + rows[s].size()), "below 2^31");
      }
      for (Index i = 0; i < rows[s].size(); ++i) positions.push_back(Position(first + i));
    }
    return positions;
  }

  /// Appends new rows to each text.   key [n, key_width], value [n, value_width], rows: their texts.
  /// Throws ShapeError when widths or the number of texts differ from what is cached; nothing is changed
  /// then.
  void append(const ConstMatrixRef<Scalar>& key, const ConstMatrixRef<Scalar>& value,
              const RaggedRows& rows) {
    expect_equal("PagedCache: key rows", key.rows(), rows.rows());
    expect_equal("PagedCache: value rows", value.rows(), rows.rows());
    if (!empty()) {
      expect_equal("PagedCache: columns of key", key.cols(), key_.cols());
      expect_equal("PagedCache: columns of value", value.cols(), value_.cols());
    }
    const std::vector<Position> at = next_positions(rows);
    if (empty()) {
      key_.resize(0, key.cols());
      value_.resize(0, value.cols());
      tables_.resize(std::size_t(rows.sequences()));
    }
    for (Index s = 0; s < rows.sequences(); ++s) {
      PageTable& table = tables_[std::size_t(s)];
      for (Index row = rows[s].begin; row < rows[s].end; ++row) {
        const Index to = next_row(table);
        key_.row(to) = key.row(row);
        value_.row(to) = value.row(row);
      }
    }
  }

  /// Ends a text: pages that no other text reads serve the next that need them, and its place is that of a
  /// new text, which starts at position 0. Throws ShapeError when there is no such text.
  void release(Index sequence) {
    expect_text(sequence);
    PageTable& table = tables_[std::size_t(sequence)];
    for (const Index page : table.pages)
      if (--readers_[std::size_t(page)] == 0) free_.push_back(page);
    table = {};
  }

  /// Begins text `to`, which must be empty, as text `from` stands: full pages are shared, the last is copied.
  /// Throws ShapeError when there is no such text, or `to` is not empty.
  void share(Index from, Index to) {
    expect_text(from);
    expect_text(to);
    expect_equal("PagedCache: length of text " + std::to_string(to), length(to), 0, "release it first");
    PageTable begun = tables_[std::size_t(from)];
    const bool whole = begun.pages.empty() || begun.last_page_length == pool_.page_size;
    for (std::size_t i = 0; i + (whole ? 0 : 1) < begun.pages.size(); ++i)
      ++readers_[std::size_t(begun.pages[i])];
    if (!whole) {
      const Index original = begun.pages.back() * pool_.page_size, copy = new_page();
      begun.pages.back() = copy;
      key_.middleRows(copy * pool_.page_size, begun.last_page_length) =
          key_.middleRows(original, begun.last_page_length);
      value_.middleRows(copy * pool_.page_size, begun.last_page_length) =
          value_.middleRows(original, begun.last_page_length);
    }
    tables_[std::size_t(to)] = std::move(begun);
  }

  /// What attend_paged reads: the pool, whose pages of no text are not to be looked at, and a table a text.
  const Matrix<Scalar>& key_pool() const noexcept { return key_; }
  const Matrix<Scalar>& value_pool() const noexcept { return value_; }
  const PagePool& pool() const noexcept { return pool_; }
  std::span<const PageTable> tables() const noexcept { return tables_; }

 private:
  Index length_of(const PageTable& table) const noexcept {
    return table.pages.empty() ? 0
                               : (Index(table.pages.size()) - 1) * pool_.page_size + table.last_page_length;
  }

  void expect_text(Index sequence) const {
    if (sequence >= 0 && sequence < sequences()) return;
    fail_shape("PagedCache: sequence", std::to_string(sequence),
               "a text of the cache, 0 to " + std::to_string(sequences() - 1));
  }

  /// The row behind a text's last, on a page of its own if need be. A shared page is full, and never written.
  Index next_row(PageTable& table) {
    if (table.pages.empty() || table.last_page_length == pool_.page_size) {
      table.pages.push_back(new_page());
      table.last_page_length = 0;
    }
    return table.pages.back() * pool_.page_size + table.last_page_length++;
  }

  /// A page with one reader.
  Index new_page() {
    if (free_.empty()) grow();
    const Index page = free_.back();
    free_.pop_back();
    readers_[std::size_t(page)] = 1;
    return page;
  }

  void grow() {
    const Index old = pool_.pages, pages = std::max<Index>(4, 2 * old);
    key_.conservativeResize(pages * pool_.page_size, Eigen::NoChange);
    value_.conservativeResize(pages * pool_.page_size, Eigen::NoChange);
    readers_.resize(std::size_t(pages), 0);
    for (Index page = pages - 1; page >= old; --page) free_.push_back(page);  // the first is taken first
    pool_.pages = pages;
  }

  PagePool pool_{.page_size = 16, .pages = 0};
  Matrix<Scalar> key_, value_;     // pool_.rows() rows
  std::vector<PageTable> tables_;  // one a text
  std::vector<Index> readers_;     // texts that read a page
  std::vector<Index> free_;        // pages that none reads
};

/// New rows look at all that is kept of their texts, where it lies. As attend_cached over a KeyValueCache;
/// masks and scores that go by rows see rows of the pool.
template <class Scalar, class Mask, class Score>
Matrix<Scalar> attend_cached(const Matrix<Scalar>& query, std::span<const Position>,
                             const PagedCache<Scalar>& cache, const AttendOptions& options, const Mask& mask,
                             const Score& score) {
  return attend_paged(query, cache.key_pool(), cache.value_pool(), cache.pool(), cache.tables(), options,
                      mask, score);
}

}  // namespace headwise::layer
