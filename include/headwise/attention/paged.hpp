#pragma once

#include <headwise/attention/attend.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headwise {

/// Where the keys and values of one text lie in a pool of pages: its pages in order, each full but the last.
struct PageTable {
  std::vector<Index> pages;
  Index last_page_length = 0;  ///< rows in use of the last page; 0 only when there is no page
};

/// The pool that all texts share: `page_size` rows a page, page p being rows [p page_size, (p + 1)
/// page_size).
struct PagePool {
  Index page_size = 16;
  Index pages = 0;

  Index rows() const noexcept { return page_size * pages; }
};

/// Throws ShapeError when a page is not in the pool, or the last page's length is not 1 to page_size.
inline void expect_page_table(const PageTable& table, const PagePool& pool, const std::string& name) {
  expect_positive("PagePool: page_size", pool.page_size);
  const Index least = table.pages.empty() ? 0 : 1, most = table.pages.empty() ? 0 : pool.page_size;
  if (table.last_page_length < least || table.last_page_length > most) {
    fail_shape(name + ": last_page_length", std::to_string(table.last_page_length),
               std::to_string(least) + " to " + std::to_string(most),
               table.pages.empty() ? "there is no page" : "a page has no more rows");
  }
  for (std::size_t i = 0; i < table.pages.size(); ++i) {
    if (table.pages[i] >= 0 && table.pages[i] < pool.pages) continue;
    fail_shape(name + ": pages[" + std::to_string(i) + "]", std::to_string(table.pages[i]),
               "a page of the pool, 0 to " + std::to_string(pool.pages - 1));
  }
}

/// A table of `length` rows on given pages. Throws ShapeError when the pages are not exactly as many as that
/// takes.
inline PageTable page_table(std::vector<Index> pages, Index length, const PagePool& pool) {
  expect_positive("PagePool: page_size", pool.page_size);
  expect_not_negative("page_table: length", length);
  const Index needed = (length + pool.page_size - 1) / pool.page_size;
  expect_equal("page_table: pages", Index(pages.size()), needed,
               std::to_string(length) + " rows in pages of " + std::to_string(pool.page_size));
  return {std::move(pages), length == 0 ? 0 : length - (needed - 1) * pool.page_size};
}

/// The rows of the pool that a table lists, in the order of the text.
inline std::vector<Index> rows_of(const PageTable& table, const PagePool& pool) {
  std::vector<Index> rows;
  for (std::size_t i = 0; i < table.pages.size(); ++i) {
    const Index count = i + 1 == table.pages.size() ? table.last_page_length : pool.page_size;
    for (Index row = 0; row < count; ++row) rows.push_back(table.pages[i] * pool.page_size + row);
  }
  return rows;
}

/// Attention over keys and values in pages, read where they are: what `attend` gives for the same rows side
/// by side, the last query of each text standing at its last key.
///
///   query [q_rows, heads * head_dim], borders of the texts in options.query_rows,
///   key_pool [pool.rows(), kv_heads * head_dim], value_pool [pool.rows(), kv_heads * value_dim],
///   tables, one a text -> [q_rows, heads * value_dim]
///
/// Policies see the positions in the text; one that goes by rows sees the rows of the pool. Throws ShapeError
/// when a table does not fit the pool, when options name positions or key rows, and as `attend` does. Cost:
/// that of `attend`, and O(pool rows) integers. Paper: Kwon et al., "Efficient Memory Management for Large
/// Language Model Serving with PagedAttention", 2023, section 4.1.
template <RealMatrix Q, RealMatrix K, RealMatrix V, MaskPolicy Mask = mask::None,
          ComputableScore<scalar_of<Q>> Score = score::None>
requires SameScalar<Q, K, V> Matrix<scalar_of<Q>> attend_paged(const Q& query, const K& key_pool,
                                                               const V& value_pool, const PagePool& pool,
                                                               std::span<const PageTable> tables,
                                                               const AttendOptions& options = {},
                                                               const Mask& mask = {},
                                                               const Score& score = {}) {
  using Scalar = scalar_of<Q>;
  const RaggedRows queries = options.query_rows.over(query.rows(), "attend_paged: query");
  expect_equal("attend_paged: tables", Index(tables.size()), queries.sequences(),
               "one a text of options.query_rows");
  expect_equal("attend_paged: rows of the key pool", key_pool.rows(), pool.rows());
  expect_equal("attend_paged: rows of the value pool", value_pool.rows(), pool.rows());
  if (options.query_offset || !options.query_positions.empty() || !options.key_positions.empty() ||
      !options.key_rows.whole()) {
    throw ShapeError(
        "attend_paged: positions or key_rows are given, expected neither; the tables know where rows stand");
  }
  for (std::size_t s = 0; s < tables.size(); ++s)
    expect_page_table(tables[s], pool, "attend_paged: tables[" + std::to_string(s) + "]");

  std::vector<Position> positions(std::size_t(pool.rows()), 0);
  const Index heads = attention::head_count(options.heads);
  const Index kv_heads = attention::head_count(attention::detail::kv_heads_of(options));
  Matrix<Scalar> output(query.rows(), heads * (value_pool.cols() / kv_heads));
  for (Index s = 0; s < queries.sequences(); ++s) {
    const Index q_len = queries[s].size();
    if (q_len == 0) continue;
    std::vector<Index> rows = rows_of(tables[std::size_t(s)], pool);
    const Index first = Index(rows.size()) - q_len;
    for (std::size_t i = 0; i < rows.size(); ++i) positions[std::size_t(rows[i])] = Position(i);
    std::vector<Position> at(std::size_t(q_len), 0);
    for (Index i = 0; i < q_len; ++i) at[std::size_t(i)] = Position(first + i);
    AttendOptions call = options;
    call.query_rows = {};
    call.query_positions = at;
    call.key_positions = positions;
    const Plans plans{{Plan{{{RowList::contiguous({0, q_len}), RowList::of(std::move(rows))}}}}};
    output.middleRows(queries[s].begin, q_len) =
        attend_over(plans, query.middleRows(queries[s].begin, q_len), key_pool, value_pool, call, mask, score)
            .output;
  }
  return output;
}

}  // namespace headwise
