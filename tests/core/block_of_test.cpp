#include <headwise/core/block_of.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace headwise {
namespace {

Index floor_of(Index token, Index size) { return token >= 0 ? token / size : -((-token + size - 1) / size); }

TEST(BlockOf, IsTheFloorOfTheQuotientOnBothSidesOfTheOrigin) {
  for (Index size = 1; size <= 140; ++size) {
    const BlockOf block(size);
    for (Index token = -300; token <= 300; ++token) {
      ASSERT_EQ(block(token), floor_of(token, size)) << token << " / " << size;
      ASSERT_EQ(block.rest(token), token - size * floor_of(token, size)) << token << " mod " << size;
    }
  }
}

TEST(BlockOf, IsExactUpToTheLargestPosition) {
  constexpr Index largest = std::numeric_limits<Position>::max();
  for (const Index size : {Index(1), Index(2), Index(3), Index(7), Index(641), Index(65536), Index(65537),
                           Index(1) << 30, (Index(1) << 30) + 1, largest - 1, largest}) {
    const BlockOf block(size);
    for (const Index near : {size, 2 * size, largest / size * size, largest / 2, largest}) {
      for (Index token = near - 2; token <= near + 2; ++token) {
        if (token < 0 || token > largest) continue;
        ASSERT_EQ(block(token), token / size) << token << " / " << size;
        ASSERT_EQ(block(-1 - token), floor_of(-1 - token, size)) << -1 - token << " / " << size;
      }
    }
  }
}

TEST(BlockOf, IsKnownAtCompileTime) {
  static_assert(BlockOf(48)(47) == 0 && BlockOf(48)(48) == 1 && BlockOf(48)(-1) == -1);
  static_assert(BlockOf(48).rest(-1) == 47);
}

}  // namespace
}  // namespace headwise
