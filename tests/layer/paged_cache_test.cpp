// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/layer/multi_head_attention.hpp>
#include <headwise/layer/paged_cache.hpp>
#include <headwise/mask/causal.hpp>

#include <gtest/gtest.h>

#include "layer/parameters.hpp"
#include "support/check.hpp"
#include "support/thrown.hpp"

#include <vector>

namespace headwise::layer::paged_cache_test {
namespace {

namespace hw = headwise;

using check::near;
using check::random;
using check::thrown;

/// The keys of a text, in order.
std::vector<double> text(const PagedCache<double>& cache, Index sequence) {
  std::vector<double> result;
  for (const Index row : rows_of(cache.tables()[std::size_t(sequence)], cache.pool()))
    result.push_back(cache.key_pool()(row, 0));
  return result;
}

/// Appends first, first + 1, ... to each text.
void append(PagedCache<double>& cache, const std::vector<Index>& lengths, double first) {
  const RaggedRows rows = RaggedRows::from_lengths(lengths);
  Matrix<double> numbers(rows.rows(), 1);
  for (Index i = 0; i < numbers.rows(); ++i) numbers(i, 0) = first + double(i);
  cache.append(numbers, numbers, rows);
}

using Numbers = std::vector<double>;

TEST(PagedCache, KeepsEachTextInOrder) {
  PagedCache<double> cache({.page_size = 2});
  EXPECT_TRUE(cache.empty());
  append(cache, {3, 0, 1}, 10);
  append(cache, {2, 1, 1}, 20);
  EXPECT_EQ(text(cache, 0), (Numbers{10, 11, 12, 20, 21}));
  EXPECT_EQ(text(cache, 1), Numbers{22});
  EXPECT_EQ(text(cache, 2), (Numbers{13, 23}));
  EXPECT_EQ(cache.length(0), 5);
  EXPECT_EQ(cache.next_positions(RaggedRows::from_lengths({2, 1, 0})), (std::vector<Position>{5, 6, 1}));
}

TEST(PagedCache, NeverMovesARow) {
  PagedCache<double> cache({.page_size = 2});
  append(cache, {3, 3}, 10);
  const auto before = rows_of(cache.tables()[1], cache.pool());
  for (int i = 0; i < 40; ++i) append(cache, {1, 1}, 20);
  const auto after = rows_of(cache.tables()[1], cache.pool());
  EXPECT_EQ((std::vector<Index>{after.begin(), after.begin() + 3}), before);
  EXPECT_EQ(cache.length(1), 43);
}

TEST(PagedCache, GivesThePagesOfAnEndedTextToOthers) {
  PagedCache<double> cache({.page_size = 2});
  append(cache, {7, 1}, 10);
  const Index pages = cache.pool().pages;
  for (int i = 0; i < 50; ++i) {
    cache.release(0);
    EXPECT_EQ(cache.length(0), 0);
    append(cache, {7, 0}, 100);
  }
  EXPECT_EQ(cache.pool().pages, pages);
  EXPECT_EQ(text(cache, 0), (Numbers{100, 101, 102, 103, 104, 105, 106}));
  EXPECT_EQ(text(cache, 1), Numbers{17});
}

TEST(PagedCache, SharesABeginning) {
  // [docs layer/paged_cache]
  hw::layer::PagedCache<double> cache({.page_size = 2});
  const hw::Matrix<double> prompt = hw::Matrix<double>::Constant(5, 1, 7), next = prompt.topRows(2);
  cache.append(prompt, prompt, hw::RaggedRows::from_lengths({5, 0}));  // two texts, one still empty
  cache.share(0, 1);                                                   // and now as the other stands
  cache.append(next, next, hw::RaggedRows::from_lengths({1, 1}));      // from here on they differ
  cache.release(0);
  // [docs end]
  EXPECT_EQ(text(cache, 1), (Numbers{7, 7, 7, 7, 7, 7}));

  for (const Index length : {0, 1, 2, 3, 4}) {
    PagedCache<double> shared({.page_size = 2});
    append(shared, {length, 0, 1}, 10);
    Numbers expected = text(shared, 0);
    ASSERT_EQ(Index(expected.size()), length);
    shared.share(0, 1);
    append(shared, {1, 1, 0}, 50);
    shared.release(0);
    append(shared, {5, 0, 0}, 90);
    expected.push_back(51);
    EXPECT_EQ(text(shared, 1), expected) << length;
    EXPECT_EQ(text(shared, 0), (Numbers{90, 91, 92, 93, 94}));
    EXPECT_EQ(text(shared, 2), Numbers{10 + double(length)});
  }
}

TEST(PagedCache, IsGoneOnFromLikeAKeyValueCache) {
  for (const bool rotates : {false, true}) {
    MultiHeadAttentionOptions options{.d_model = 8, .heads = 2, .kv_heads = 1};
    if (rotates) options.rotary = position::Rotary({.head_dim = 4});
    MultiHeadAttention<double> layer(options, Initial::zeros());
    check::randomise(layer, 4);
    for (const Index page_size : {1, 3, 16}) {
      KeyValueCache<double> beside;
      PagedCache<double> paged({.page_size = page_size});
      std::uint64_t seed = 1;
      for (const std::vector<Index>& lengths :
           std::vector<std::vector<Index>>{{7, 0, 65}, {1, 2, 1}, {0, 1, 0}, {0, 0, 0}, {1, 1, 64}}) {
        const AttendOptions call{.query_rows = RaggedRows::from_lengths(lengths)};
        const auto x = random(call.query_rows.rows(), 8, seed++);
        auto [expected, beside_longer] = layer(x, std::move(beside), call, mask::Causal{});
        auto [output, paged_longer] = layer(x, std::move(paged), call, mask::Causal{});
        EXPECT_TRUE(near(output, expected, 1e-13)) << page_size;
        beside = std::move(beside_longer);
        paged = std::move(paged_longer);
      }
    }
  }
}

TEST(PagedCache, RefusesScalingsThatReadTheLength) {
  const MultiHeadAttention<double> layer(
      {.d_model = 8,
       .heads = 2,
       .rotary = position::Rotary(
           {.head_dim = 4, .scaling = position::DynamicNtkScaling{.factor = 2, .trained_len = 8}})},
      Initial::zeros());
  EXPECT_EQ(
      thrown<ShapeError>([&] { (void)layer(random(3, 8, 1), PagedCache<double>(), mask::Causal{}); }),
      "MultiHeadAttention: a rotary scaling that reads the length of the text is given a cache that does "
      "not keep its texts side by side, expected a KeyValueCache or RollingCache");
}

TEST(PagedCache, NamesWhatDoesNotFit) {
  EXPECT_EQ(thrown<ShapeError>([] { PagedCache<double>({.page_size = 0}); }),
            "PagedCache: page_size is 0, expected a positive number");
  PagedCache<double> cache({.page_size = 2});
  append(cache, {3, 1}, 10);
  EXPECT_EQ(thrown<ShapeError>([&] { append(cache, {1}, 1); }),
            "PagedCache: sequences is 1, expected 2; give each text its rows, or none");
  EXPECT_EQ(thrown<ShapeError>([&] {
              cache.append(random(1, 2, 1), random(1, 1, 1), RaggedRows::from_lengths({1, 0}));
            }),
            "PagedCache: columns of key is 2, expected 1");
  EXPECT_EQ(thrown<ShapeError>([&] { cache.release(2); }),
            "PagedCache: sequence is 2, expected a text of the cache, 0 to 1");
  EXPECT_EQ(thrown<ShapeError>([&] { cache.share(0, 1); }),
            "PagedCache: length of text 1 is 1, expected 0; release it first");
  EXPECT_EQ(text(cache, 0), (Numbers{10, 11, 12}));
  EXPECT_EQ(text(cache, 1), Numbers{13});
}

}  // namespace
}  // namespace headwise::layer::paged_cache_test
