// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <gtest/gtest.h>

#include "io/model_copy.hpp"
#include "support/golden.hpp"
#include "support/lsh_any_mask.hpp"
#include "support/published_reformer.hpp"
#include "support/thrown.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace headwise::io {
namespace {

std::filesystem::path tiny_reformer() { return golden::folder() / "models" / "reformer_tiny"; }

const check::AnyMask& earlier_tokens() {
  static const check::AnyMask mask = [](Index q, Index k) { return k <= q; };
  return mask;
}

std::vector<TokenId> reformer_words(Index count) {
  std::vector<TokenId> ids;
  for (Index i = 0; i < count; ++i) ids.push_back(TokenId((7 * i + 3) % 35));
  return ids;
}

TEST(ReformerLoader, WithoutNumBucketsTheLengthOfATextDecides) {
  if (!std::filesystem::exists(tiny_reformer())) GTEST_SKIP() << "no golden files: " << tiny_reformer();
  const check::ModelCopy null(tiny_reformer(), "reformer_loader_null");
  null.edit_config("\"num_buckets\": 4", "\"num_buckets\": null");
  const auto by_length = published::load_reformer(null.path());
  // Chunks of 4: 2 * 24 / 4 and 2 * 17 / 4 are at least 8, 2 * 9 / 4 is 4, and less than a chunk leaves 2.
  for (const auto& [length, buckets] : {std::pair<Index, Index>{24, 8}, {17, 8}, {9, 4}, {3, 2}}) {
    const check::ModelCopy given(tiny_reformer(), "reformer_loader_given");
    given.edit_config("\"num_buckets\": 4", "\"num_buckets\": " + std::to_string(buckets));
    const auto expected = published::load_reformer(given.path());
    EXPECT_EQ(by_length(reformer_words(length), {}, earlier_tokens()),
              expected(reformer_words(length), {}, earlier_tokens()))
        << length;
  }
}

TEST(ReformerLoader, WithoutNumBucketsATextDoesNotDependOnItsBatch) {
  if (!std::filesystem::exists(tiny_reformer())) GTEST_SKIP() << "no golden files: " << tiny_reformer();
  const check::ModelCopy null(tiny_reformer(), "reformer_loader_batch");
  null.edit_config("\"num_buckets\": 4,", "");
  const auto model = published::load_reformer(null.path());
  std::vector<TokenId> both = reformer_words(9);
  const std::vector<TokenId> longer = reformer_words(24);
  both.insert(both.end(), longer.begin(), longer.end());
  const Matrix<double> batch =
      model(both, {.query_rows = RaggedRows::from_lengths({9, 24})}, earlier_tokens());
  EXPECT_TRUE(batch.topRows(9).isApprox(model(reformer_words(9), {}, earlier_tokens()), 1e-12));
  EXPECT_TRUE(batch.bottomRows(24).isApprox(model(longer, {}, earlier_tokens()), 1e-12));
}

TEST(ReformerLoader, RefusesAnEmptyListOfFactors) {
  if (!std::filesystem::exists(tiny_reformer())) GTEST_SKIP() << "no golden files: " << tiny_reformer();
  const check::ModelCopy none(tiny_reformer(), "reformer_loader_none");
  none.edit_config("\"num_buckets\": 4", "\"num_buckets\": []");
  const std::string text = check::thrown<FormatError>([&] { (void)published::load_reformer(none.path()); });
  EXPECT_EQ(text.substr(none.path().size()),
            "/config.json: num_buckets: is an empty list, expected a number, a list of factors, or null");
}

}  // namespace
}  // namespace headwise::io
