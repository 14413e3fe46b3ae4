#include <headwise/layer/key_value_cache.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/thrown.hpp"

#include <vector>

namespace headwise::layer {
namespace {

namespace hw = headwise;

using check::random;
using check::thrown;

std::vector<Position> positions_of(const KeyValueCache<double>& cache) {
  return {cache.positions().begin(), cache.positions().end()};
}

TEST(KeyValueCache, GrowsTokenByToken) {
  const auto key = random(65, 3, 1), value = random(65, 2, 2);
  KeyValueCache<double> cache;
  EXPECT_TRUE(cache.empty());
  for (Index i = 0; i < 65; ++i) {
    EXPECT_EQ(cache.next_position(0), i);
    cache.append(key.row(i), value.row(i), RaggedRows::from_lengths({1}));
  }
  EXPECT_EQ(Matrix<double>(cache.key()), key);
  EXPECT_EQ(Matrix<double>(cache.value()), value);
  EXPECT_EQ(cache.positions()[64], 64);
  EXPECT_TRUE(cache.complete());
}

TEST(KeyValueCache, KeepsTheSequencesOfABatchApart) {
  const auto key = random(9, 3, 1), value = random(9, 2, 2);
  KeyValueCache<double> cache;
  cache.append(key.topRows(5), value.topRows(5), RaggedRows::from_lengths({2, 0, 3}));
  cache.append(key.bottomRows(4), value.bottomRows(4), RaggedRows::from_lengths({1, 2, 1}));
  const Index order[] = {0, 1, 5, 6, 7, 2, 3, 4, 8};
  for (Index i = 0; i < 9; ++i) {
    EXPECT_EQ(cache.key().row(i), key.row(order[i])) << i;
    EXPECT_EQ(cache.value().row(i), value.row(order[i])) << i;
  }
  EXPECT_EQ(positions_of(cache), (std::vector<Position>{0, 1, 2, 0, 1, 0, 1, 2, 3}));
  EXPECT_EQ(cache.rows().offsets(), (std::vector<Index>{0, 3, 5, 9}));
}

TEST(KeyValueCache, KeepsTruePositionsWhenRowsAreDropped) {
  const auto key = random(8, 3, 1), value = random(8, 2, 2);
  KeyValueCache<double> cache;
  cache.append(key, value, RaggedRows::from_lengths({5, 3}));
  // [docs layer/key_value_cache]
  // The first token of each text, and its last two.
  cache.retain([&](hw::Index sequence, hw::Position position) {
    return position < 1 || position >= cache.next_position(sequence) - 2;
  });
  // [docs end]
  EXPECT_EQ(positions_of(cache), (std::vector<Position>{0, 3, 4, 0, 1, 2}));
  EXPECT_EQ(cache.key().row(1), key.row(3));
  EXPECT_EQ(cache.value().row(5), value.row(7));
  EXPECT_FALSE(cache.complete());
  EXPECT_EQ(cache.next_position(0), 5);

  cache.append(key.topRows(2), value.topRows(2), RaggedRows::from_lengths({1, 1}));
  EXPECT_EQ(positions_of(cache), (std::vector<Position>{0, 3, 4, 5, 0, 1, 2, 3}));
  EXPECT_EQ(cache.key().row(3), key.row(0));
  EXPECT_EQ(cache.key().row(7), key.row(1));
}

TEST(KeyValueCache, IsAValue) {
  const auto key = random(3, 3, 1), value = random(3, 2, 2);
  KeyValueCache<double> cache;
  cache.append(key, value, RaggedRows::from_lengths({3}));
  const KeyValueCache<double> branch = cache;
  cache.append(key, value, RaggedRows::from_lengths({3}));
  EXPECT_EQ(branch.size(), 3);
  EXPECT_EQ(cache.size(), 6);
}

TEST(KeyValueCache, NamesWhatDoesNotFitAndStaysAsItWas) {
  KeyValueCache<double> cache;
  cache.append(random(3, 4, 1), random(3, 2, 2), RaggedRows::from_lengths({2, 1}));
  const auto append = [&](Index key_width, Index value_width, const RaggedRows& rows) {
    return thrown<ShapeError>(
        [&] { cache.append(random(2, key_width, 1), random(2, value_width, 2), rows); });
  };
  EXPECT_EQ(append(5, 2, RaggedRows::from_lengths({1, 1})), "KeyValueCache: columns of key is 5, expected 4");
  EXPECT_EQ(append(4, 3, RaggedRows::from_lengths({1, 1})),
            "KeyValueCache: columns of value is 3, expected 2");
  EXPECT_EQ(append(4, 2, RaggedRows::from_lengths({2})),
            "KeyValueCache: sequences is 1, expected 2; give each sequence its rows, or none");
  EXPECT_EQ(append(4, 2, RaggedRows::from_lengths({1, 2})), "KeyValueCache: key rows is 2, expected 3");
  EXPECT_EQ(cache.size(), 3);
}

}  // namespace
}  // namespace headwise::layer
