#include <headwise/mask/published_random_blocks.hpp>

#include <gtest/gtest.h>

#include "support/golden.hpp"
#include "support/pattern_laws.hpp"

namespace headwise::mask {
namespace {

std::vector<Index> rows_of(const RandomBlocks& blocks, Index head, Index rows) {
  std::vector<Index> numbers;
  for (Index row = 1; row <= rows; ++row)
    for (Index i = 0; i < blocks.random(); ++i) numbers.push_back(blocks.at(head, row, i));
  return numbers;
}

TEST(PublishedRandomBlocks, AreThoseOfThePapersLengths) {
  const auto first = published_random_blocks({.seq_len = 1024, .heads = 2, .layer = 0});
  EXPECT_EQ(rows_of(first, 0, 14),
            (std::vector<Index>{9, 14, 7,  9,  6,  7,  10, 5,  14, 6, 8, 12, 2, 13, 1, 4, 11, 3, 1, 10, 5,
                                2, 3,  15, 13, 11, 14, 15, 13, 8,  9, 7, 4,  1, 2,  5, 8, 9,  7, 2, 6,  5}));
  EXPECT_EQ(
      rows_of(first, 1, 14),
      (std::vector<Index>{6,  11, 10, 8, 4,  12, 12, 11, 10, 7,  11, 10, 14, 11, 13, 3, 2,  13, 15, 12, 3,
                          11, 14, 6,  4, 11, 3,  6,  2,  12, 13, 5,  14, 10, 3,  7,  2, 15, 3,  11, 8,  10}));
  const auto second = published_random_blocks({.seq_len = 1024, .heads = 1, .layer = 1});
  EXPECT_EQ(rows_of(second, 0, 6),
            (std::vector<Index>{5, 6, 7, 5, 11, 4, 15, 9, 7, 10, 12, 6, 3, 14, 8, 11, 13, 12}));
}

TEST(PublishedRandomBlocks, OfALongerTextBeginAsThoseOfAShorterOne) {
  const auto shorter = published_random_blocks({.seq_len = 1024, .heads = 1});
  const auto longer = published_random_blocks({.seq_len = 4096, .heads = 1});
  EXPECT_EQ(rows_of(shorter, 0, 14), rows_of(longer, 0, 14));
}

/// The tables that transformers drew for a small model.
TEST(PublishedRandomBlocks, AreThoseOfTheGoldenModel) {
  for (const golden::Case& each : golden::cases("bigbird")) {
    SCOPED_TRACE(each.name());
    for (Index layer = 0; each.has("in.rand_blocks." + std::to_string(layer)); ++layer) {
      const golden::Tensor& drawn = each.tensor("in.rand_blocks." + std::to_string(layer));
      const Index heads = drawn.dim(0), rows = drawn.dim(1), random = drawn.dim(2);
      const Index size = each.integer("block_size");
      const auto ours = published_random_blocks({.seq_len = (rows + 2) * size,
                                                 .block_size = size,
                                                 .random = random,
                                                 .heads = heads,
                                                 .layer = layer,
                                                 .max_positions = each.integer("max_position_embeddings")});
      for (Index head = 0; head < heads; ++head)
        for (Index row = 0; row < rows; ++row)
          for (Index i = 0; i < random; ++i)
            ASSERT_EQ(ours.at(head, row + 1, i), Index(drawn.at(head, row, i)))
                << "layer " << layer << ", head " << head << ", row " << row;
    }
  }
}

TEST(PublishedRandomBlocks, RefuseWhatThePublishedCodeCannotDraw) {
  EXPECT_EQ(check::refusal([] { (void)published_random_blocks({.seq_len = 1000}); }),
            "published_random_blocks: seq_len is 1000, expected a multiple of 64 (block_size); pad the text");
  EXPECT_EQ(
      check::refusal([] { (void)published_random_blocks({.seq_len = 704}); }),
      "published_random_blocks: candidates for block 1 is 0, expected at least 3 (random); the published "
      "code fails here, too; short texts get full attention");
}

}  // namespace
}  // namespace headwise::mask
