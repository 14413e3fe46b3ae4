// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/layer/paged_cache.hpp>
#include <headwise/layer/rolling.hpp>

#include <gtest/gtest.h>

#include "model/cached_decode.hpp"

namespace headwise::model::caches_test {
namespace {

using check::near;

/// Texts of a batch that grow by turns, after each step of which the logits are kept, in the order of the
/// texts.
template <class Cache>
std::vector<Matrix<double>> logits_of(std::vector<Cache> caches, const layer::RollingMask& mask) {
  const auto decoder = check::small_rotary_decoder();
  std::vector<Matrix<double>> result;
  TokenId id = 0;
  for (const std::vector<Index>& lengths : std::vector<std::vector<Index>>{
           {5, 0, 17}, {1, 3, 1}, {1, 1, 1}, {0, 1, 1}, {1, 0, 0}, {9, 9, 9}, {1, 1, 1}, {1, 1, 1}}) {
    const AttendOptions options{.query_rows = RaggedRows::from_lengths(lengths)};
    std::vector<TokenId> ids;
    for (Index i = 0; i < options.query_rows.rows(); ++i) ids.push_back(TokenId((id += 7) % 11));
    auto [states, longer] = decoder.step(ids, std::move(caches), options, mask);
    result.push_back(decoder.logits(states));
    caches = std::move(longer);
  }
  return result;
}

void expect_equal_logits(const std::vector<Matrix<double>>& got,
                         const std::vector<Matrix<double>>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(near(got[i], expected[i], 1e-11)) << "step " << i;
}

TEST(DecoderCaches, OfEveryKindGiveTheSameLogits) {
  using Beside = layer::KeyValueCache<double>;
  using Rolls = layer::RollingCache<double>;
  using Paged = layer::PagedCache<double>;
  const layer::Rolling rolling{.window = 4, .sinks = 2}, wide{.window = 1000};
  const std::size_t layers = 2;

  for (const layer::Rolling& seen : {rolling, wide}) {
    const auto expected = logits_of(std::vector<Beside>(), seen.mask());
    expect_equal_logits(logits_of(std::vector(layers, Rolls(seen)), seen.mask()), expected);
    expect_equal_logits(logits_of(std::vector<Paged>(), seen.mask()), expected);
    for (const Index page_size : {1, 3, 64}) {
      expect_equal_logits(logits_of(std::vector(layers, Paged({.page_size = page_size})), seen.mask()),
                          expected);
    }
  }
}

TEST(DecoderCaches, OneThatRollsForgets) {
  const auto decoder = check::small_rotary_decoder();
  const layer::Rolling rolling{.window = 4, .sinks = 2};
  std::vector caches(2, layer::RollingCache<double>(rolling));
  for (TokenId id = 0; id < 90; ++id) {
    const TokenId next[] = {id % 11};
    auto [states, longer] = decoder.step(next, std::move(caches), {}, rolling.mask());
    caches = std::move(longer);
    for (const auto& cache : caches) EXPECT_LE(cache.held().size(), 2 * rolling.window + rolling.sinks);
  }
  EXPECT_EQ(caches.back().held().next_position(0), 90);
}

/// One prompt, read once, from which two texts go on.
TEST(DecoderCaches, PagesOfAPromptServeSeveralTexts) {
  const auto decoder = check::small_rotary_decoder();
  const std::vector<TokenId> prompt{3, 10, 0, 3, 7}, next{1, 2};
  std::vector caches(2, layer::PagedCache<double>({.page_size = 2}));
  caches = decoder.step(prompt, std::move(caches), {.query_rows = RaggedRows::from_lengths({5, 0})}).cache;
  for (auto& cache : caches) cache.share(0, 1);
  const auto both = decoder.step(next, std::move(caches), {.query_rows = RaggedRows::from_lengths({1, 1})});
  for (std::size_t text = 0; text < 2; ++text) {
    std::vector<TokenId> whole = prompt;
    whole.push_back(next[text]);
    EXPECT_TRUE(near(both.output.row(Index(text)), decoder.states(whole).bottomRows(1), 1e-12));
  }
}

}  // namespace
}  // namespace headwise::model::caches_test
