// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/attention/paged.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/score/alibi.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/thrown.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace headwise {
namespace {

namespace hw = headwise;

using check::near;
using check::random;
using check::thrown;

/// Texts side by side, and the same texts scattered over a pool whose other rows are NaN.
struct Scattered {
  Matrix<double> key, value;  // side by side
  Matrix<double> key_pool, value_pool;
  std::vector<PageTable> tables;
  PagePool pool;
};

Scattered scattered(const std::vector<Index>& lengths, Index page_size, std::uint64_t seed) {
  Scattered s;
  const Index rows = std::accumulate(lengths.begin(), lengths.end(), Index(0));
  s.key = random(rows, 8, seed);
  s.value = random(rows, 6, seed + 1);
  for (const Index length : lengths) s.pool.pages += (length + page_size - 1) / page_size;
  s.pool.pages += 3;
  s.pool.page_size = page_size;
  s.key_pool = Matrix<double>::Constant(s.pool.rows(), 8, std::numeric_limits<double>::quiet_NaN());
  s.value_pool = Matrix<double>::Constant(s.pool.rows(), 6, std::numeric_limits<double>::quiet_NaN());
  std::vector<Index> free(std::size_t(s.pool.pages));
  std::iota(free.begin(), free.end(), Index(0));
  Rng rng(seed);
  for (std::size_t i = free.size(); i > 1; --i)
    std::swap(free[i - 1], free[std::size_t(rng.below(Index(i)))]);
  Index row = 0;
  for (const Index length : lengths) {
    std::vector<Index> pages;
    for (Index i = 0; i < length; ++i, ++row) {
      if (i % page_size == 0) {
        pages.push_back(free.back());
        free.pop_back();
      }
      s.key_pool.row(pages.back() * page_size + i % page_size) = s.key.row(row);
      s.value_pool.row(pages.back() * page_size + i % page_size) = s.value.row(row);
    }
    s.tables.push_back(page_table(pages, length, s.pool));
  }
  return s;
}

TEST(AttendPaged, IsAttentionOverTheRowsSideBySide) {
  for (const Index page_size : {1, 3, 16, 64}) {
    const std::vector<Index> lengths{65, 1, 0, 64, 7};
    const Scattered s = scattered(lengths, page_size, 11);
    const std::vector<Index> q_lens{2, 1, 0, 5, 7};
    const RaggedRows queries = RaggedRows::from_lengths(q_lens);
    const auto query = random(queries.rows(), 16, 5);
    const AttendOptions beside{.heads = 4,
                               .kv_heads = 2,
                               .query_offset = align_last,
                               .query_rows = queries,
                               .key_rows = RaggedRows::from_lengths(lengths)};
    const AttendOptions paged{.heads = 4, .kv_heads = 2, .query_rows = queries};
    EXPECT_TRUE(near(attend_paged(query, s.key_pool, s.value_pool, s.pool, s.tables, paged, mask::Causal{}),
                     attend(query, s.key, s.value, beside, mask::Causal{}), 1e-13));
    EXPECT_TRUE(near(attend_paged(query, s.key_pool, s.value_pool, s.pool, s.tables, paged, mask::Causal{},
                                  score::Alibi(4)),
                     attend(query, s.key, s.value, beside, mask::Causal{}, score::Alibi(4)), 1e-13));
  }
}

TEST(AttendPaged, ReadsOneText) {
  const hw::Matrix<double> key_pool = random(8, 4, 1), value_pool = random(8, 4, 2), query = random(1, 4, 3);
  // [docs attention/paged]
  const hw::PagePool pool{.page_size = 2, .pages = 4};
  const std::vector<hw::PageTable> tables{hw::page_table({3, 0}, 3, pool)};  // rows 6, 7, 0 of the pool
  const auto output = hw::attend_paged(query, key_pool, value_pool, pool, tables, {}, hw::mask::Causal{});
  // [docs end]
  Matrix<double> key(3, 4), value(3, 4);
  key << key_pool.row(6), key_pool.row(7), key_pool.row(0);
  value << value_pool.row(6), value_pool.row(7), value_pool.row(0);
  EXPECT_TRUE(near(output, attend(query, key, value, {.query_offset = 2}, mask::Causal{}), 1e-14));
}

TEST(AttendPaged, B130_LengthsBeyondThePagesAreRefused) {
  const PagePool pool{.page_size = 2, .pages = 4};
  const auto reason = [&](PageTable table) {
    const std::vector<PageTable> tables{std::move(table)};
    return thrown<ShapeError>([&] {
      (void)attend_paged(random(1, 4, 1), random(8, 4, 2), random(8, 4, 3), pool, tables, {}, mask::Causal{});
    });
  };
  EXPECT_EQ(reason({{0, 1}, 3}),
            "attend_paged: tables[0]: last_page_length is 3, expected 1 to 2; a page has no more rows");
  EXPECT_EQ(reason({{0, 1}, 0}),
            "attend_paged: tables[0]: last_page_length is 0, expected 1 to 2; a page has no more rows");
  EXPECT_EQ(reason({{}, 1}),
            "attend_paged: tables[0]: last_page_length is 1, expected 0 to 0; there is no page");
  EXPECT_EQ(reason({{0, 4}, 1}),
            "attend_paged: tables[0]: pages[1] is 4, expected a page of the pool, 0 to 3");
  EXPECT_EQ(reason({{-1}, 1}),
            "attend_paged: tables[0]: pages[0] is -1, expected a page of the pool, 0 to 3");
  EXPECT_EQ(thrown<ShapeError>([&] {
              (void)page_table({0, 1}, 5, pool);
            }),
            "page_table: pages is 2, expected 3; 5 rows in pages of 2");
}

TEST(AttendPaged, B131_PageNumbersAreNotCut) {
  const PagePool pool{.page_size = 1, .pages = 65537};
  Matrix<float> zeros = Matrix<float>::Zero(65537, 1), value = zeros;
  value(0, 0) = 1;
  value(65536, 0) = 7;
  const std::vector<PageTable> tables{page_table({65536}, 1, pool)};
  EXPECT_EQ(attend_paged(Matrix<float>::Zero(1, 1), zeros, value, pool, tables)(0, 0), 7);
}

TEST(AttendPaged, TheTablesAloneSayWhereRowsStand) {
  const PagePool pool{.page_size = 2, .pages = 1};
  const std::vector<PageTable> tables{page_table({0}, 2, pool)};
  const auto reason = [&](const AttendOptions& options, Index pool_rows) {
    return thrown<ShapeError>([&] {
      (void)attend_paged(random(1, 4, 1), random(pool_rows, 4, 2), random(pool_rows, 4, 3), pool, tables,
                         options);
    });
  };
  EXPECT_EQ(
      reason({.query_offset = 1}, 2),
      "attend_paged: positions or key_rows are given, expected neither; the tables know where rows stand");
  EXPECT_EQ(reason({.query_rows = RaggedRows::from_lengths({1, 0})}, 2),
            "attend_paged: tables is 1, expected 2; one a text of options.query_rows");
  EXPECT_EQ(reason({}, 3), "attend_paged: rows of the key pool is 3, expected 2");
}

}  // namespace
}  // namespace headwise
