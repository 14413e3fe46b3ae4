// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/layer/multi_head_attention.hpp>
#include <headwise/layer/rolling.hpp>

#include <gtest/gtest.h>

#include "layer/parameters.hpp"
#include "support/check.hpp"
#include "support/thrown.hpp"

#include <utility>
#include <vector>

namespace headwise::layer {
namespace {

namespace hw = headwise;

using check::near;
using check::random;
using check::thrown;

TEST(RollingMask, SeesTheWindowAndTheSinks) {
  const RollingMask mask = Rolling{.window = 3, .sinks = 2}.mask();
  for (Index query = 0; query < 70; ++query) {
    const auto runs = mask.runs(query);
    for (Index key = -3; key < 75; ++key) {
      const bool expected = key <= query && (query - key < 3 || key == 0 || key == 1);
      EXPECT_EQ(mask.allows(query, key), expected) << query << " " << key;
      EXPECT_EQ(runs.contains(key), expected) << query << " " << key;
    }
  }
}

MultiHeadAttention<double> made() {
  MultiHeadAttention<double> layer(
      {.d_model = 8, .heads = 2, .kv_heads = 1, .rotary = position::Rotary({.head_dim = 4})},
      Initial::zeros());
  check::randomise(layer, 4);
  return layer;
}

/// Long enough for the cache to roll several times; one call over the whole text with the same mask is the
/// truth.
TEST(Rolling, ForgetsNothingThatIsSeenAgain) {
  const auto layer = made();
  const auto x = random(70, 8, 1);
  for (const auto& [window, sinks] :
       {std::pair<Index, Index>{1, 0}, {1, 3}, {4, 0}, {4, 2}, {16, 1}, {100, 4}}) {
    const Rolling rolling{.window = window, .sinks = sinks};
    const Matrix<double> whole = layer(x, rolling.mask());
    KeyValueCache<double> cache;
    Index most = 0, row = 0;
    for (const Index chunk : {7, 1, 1, 20, 1, 1, 1, 30, 1, 1, 1, 1, 1, 1, 1, 1}) {
      auto [output, longer] = layer(x.middleRows(row, chunk), std::move(cache), rolling.mask());
      EXPECT_TRUE(near(output, whole.middleRows(row, chunk), 1e-12)) << window << " " << sinks << " " << row;
      cache = std::move(longer);
      rolling.roll(cache);
      row += chunk;
      most = std::max(most, cache.size());
      EXPECT_EQ(cache.next_position(0), row);
    }
    ASSERT_EQ(row, 70);
    EXPECT_LE(most, 2 * window + sinks);
  }
}

TEST(Rolling, KeepsTheTextsOfABatchApart) {
  // [docs layer/rolling]
  const hw::layer::Rolling rolling{.window = 4, .sinks = 1};
  hw::layer::KeyValueCache<double> cache;
  const auto append = [&](hw::Index first, hw::Index second) {
    const auto rows = hw::RaggedRows::from_lengths({first, second});
    const hw::Matrix<double> numbers = hw::Matrix<double>::Zero(rows.rows(), 2);
    cache.append(numbers, numbers, rows);
    rolling.roll(cache);
  };
  append(9, 2);  // the first text keeps position 0 and the last three, 6 to 8
  // [docs end]
  EXPECT_EQ((std::vector<Position>{cache.positions().begin(), cache.positions().end()}),
            (std::vector<Position>{0, 6, 7, 8, 0, 1}));
  append(1, 1);
  EXPECT_EQ((std::vector<Position>{cache.positions().begin(), cache.positions().end()}),
            (std::vector<Position>{0, 6, 7, 8, 9, 0, 1, 2}));
}

TEST(Rolling, B52_WindowAndCacheCountAlike) {
  // q = 0, v = [1, 2, 4, 8, 16], window 2: the last row is the mean of 8 and 16.
  const Rolling rolling{.window = 2};
  const Matrix<double> zeros = Matrix<double>::Zero(5, 1);
  Matrix<double> value(5, 1);
  value << 1, 2, 4, 8, 16;
  EXPECT_EQ(attend(zeros, zeros, value, rolling.mask())(4, 0), 12);
  KeyValueCache<double> cache;
  Matrix<double> output;
  for (Index t = 0; t < 5; ++t) {
    cache.append(zeros.row(t), value.row(t), RaggedRows::from_lengths({1}));
    const Position at[] = {Position(t)};
    output = attend(zeros.row(t), cache.key(), cache.value(),
                    {.query_positions = at, .key_positions = cache.positions()}, rolling.mask());
    rolling.roll(cache);
  }
  EXPECT_EQ(output(0, 0), 12);
}

TEST(Rolling, NamesWhatIsOutOfRange) {
  EXPECT_EQ(thrown<ShapeError>([] { (void)Rolling{.window = 0}.mask(); }),
            "Rolling: window is 0, expected a positive number");
  EXPECT_EQ(thrown<ShapeError>([] {
              KeyValueCache<double> cache;
              Rolling{.window = 1, .sinks = -1}.roll(cache);
            }),
            "Rolling: sinks is -1, expected zero or more");
}

}  // namespace
}  // namespace headwise::layer
