#include <headwise/mask/algebra.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/picture.hpp>
#include <headwise/mask/where.hpp>

#include <gtest/gtest.h>

#include "support/mask_laws.hpp"

#include <functional>

namespace elsewhere {

/// Two masks of a user's namespace, in which the operators of headwise::mask are not found.
struct Even {
  bool allows(std::ptrdiff_t, std::ptrdiff_t key) const { return key % 2 == 0; }
};
struct Near {
  bool operator()(std::ptrdiff_t query, std::ptrdiff_t key) const { return query - key < 2; }
};

}  // namespace elsewhere

namespace headwise::mask::where_test {
namespace {

constexpr auto own_block = [](Index query, Index key) { return query / 8 == key / 8; };
constexpr auto own_block_tiles = [](Tile tile) {
  const Range queries{tile.queries.begin / 8, (tile.queries.end - 1) / 8 + 1};
  const Range keys{tile.keys.begin / 8, (tile.keys.end - 1) / 8 + 1};
  if (intersect(queries, keys).empty()) return Coverage::none;
  return queries == keys && keys.size() == 1 ? Coverage::full : Coverage::partial;
};

struct Plain {
  static auto masks() { return std::array{where(own_block)}; }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Where, MaskLaws, Plain);

struct WithCoverage {
  static auto masks() { return std::array{where(own_block, own_block_tiles)}; }
  static Tile domain(const Context&) { return {{0, 141}, {0, 141}}; }
  static constexpr bool coverage_is_exact = true;
};
INSTANTIATE_TYPED_TEST_SUITE_P(WhereWithCoverage, MaskLaws, WithCoverage);

struct ByHeadAndRow {
  static auto masks() {
    return std::array{where<Coordinates::rows>([](Index query, Index key, Index head, Index sequence) {
      return (query + key + head) % 3 == sequence;
    })};
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(WhereByHeadAndRow, MaskLaws, ByHeadAndRow);

template <class A, class B>
concept Joins = requires(const A& a, const B& b) {
  a&& b;
};

TEST(Where, AnyRuleIsAMask) {
  namespace hw = headwise;
  // [docs mask/where]
  const auto every_third =
      hw::mask::where([](hw::Index query, hw::Index key) { return (query - key) % 3 == 0; });
  const std::string picture = hw::mask::to_string(hw::mask::Causal{} && every_third, 4, 4);
  // "#...\n"
  // ".#..\n"
  // "..#.\n"
  // "#..#\n"
  // [docs end]
  EXPECT_EQ(picture, "#...\n.#..\n..#.\n#..#\n");
}

TEST(Where, MayReadTheHeadAndTheSequence) {
  const auto mask =
      where([](Index, Index key, Index head, Index sequence) { return key == head + sequence; });
  const PictureOptions options{.query_offset = 0, .head = 1, .heads = 3, .sequence = 1, .sequences = 2};
  EXPECT_EQ(to_string(mask, 1, 4, options), "..#.\n");
}

TEST(Where, PositionsMoveWithTheOffset) {
  const auto mask = where([](Index query, Index key) { return key == query; });
  EXPECT_EQ(to_string(mask, 2, 4, {.query_offset = align_last}), "..#.\n...#\n");
  const auto with_tiles =
      where([](Index query, Index key) { return key == query; }, [](Tile) { return Coverage::partial; });
  EXPECT_EQ(to_string(with_tiles, 2, 4, {.query_offset = align_last}), "..#.\n...#\n");
}

TEST(Where, RowsAreCountedWithinTheSequenceAndNeedNoOffset) {
  const auto mask = where<Coordinates::rows>([](Index query, Index key) { return key == query + 1; });
  EXPECT_EQ(to_string(mask, 2, 4, {.sequence = 1, .sequences = 2}), ".#..\n..#.\n");
}

TEST(Where, KeepsWhatItsRuleCaptured) {
  const auto make = [] {
    std::vector<Index> seen{2, 0};
    return where([seen](Index query, Index key) { return seen[std::size_t(query)] == key; });
  };
  EXPECT_EQ(to_string(make(), 2, 3, {.query_offset = 0}), "..#\n#..\n");
}

TEST(Where, TakesFunctionsAndStdFunction) {
  const std::function<bool(Index, Index)> rule = [](Index query, Index key) { return key > query; };
  EXPECT_EQ(to_string(where(rule), 2, 2), ".#\n..\n");
  bool (*const pointer)(Index, Index) = +[](Index, Index key) { return key == 0; };
  EXPECT_EQ(to_string(where(pointer), 2, 2), "#.\n#.\n");
}

TEST(Where, ComposesMasksOfAnotherNamespace) {
  const auto even = where([mask = elsewhere::Even{}](Index q, Index k) { return mask.allows(q, k); });
  const auto near = where(elsewhere::Near{});
  EXPECT_EQ(to_string(even || near, 3, 3), "###\n###\n###\n");
  EXPECT_EQ(to_string(even && near, 4, 4), "#.#.\n#.#.\n..#.\n..#.\n");
  EXPECT_EQ(to_string(Causal{} && elsewhere::Even{}, 3, 3), "#..\n#..\n#.#\n");
  EXPECT_EQ(to_string(elsewhere::Near{} - Causal{}, 3, 3), ".##\n..#\n...\n");
}

TEST(Where, AnythingButBoolIsNoMask) {
  const auto number = [](Index query, Index key) { return int(query > key); };
  const auto score = [](Index query, Index key) { return float(query - key); };
  const auto rule = [](Index query, Index key) { return query > key; };
  static_assert(MaskPolicy<decltype(rule)>);
  static_assert(!MaskPolicy<decltype(number)>);
  static_assert(!MaskPolicy<decltype(score)>);
  static_assert(!Joins<Causal, decltype(number)> && !Joins<Causal, decltype(score)>);
  static_assert(Joins<Causal, decltype(rule)>);
}

TEST(Where, B103_SenseOfAMaskOverCompressedBlocks) {
  // Key n stands for tokens 2n and 2n + 1 and is seen once its last token is.
  const auto finished = where([](Index query, Index block) { return 2 * block + 1 <= query; });
  EXPECT_EQ(to_string(finished, 4, 2, {.query_offset = 0}), "..\n#.\n#.\n##\n");
}

TEST(Where, B109_HidesOneKeyInEveryTile) {
  const auto mask = where([](Index, Index key) { return key != 1; });
  const Matrix<bool> seen = to_dense(mask, 64, 64);
  for (Index query = 0; query < 64; ++query)
    for (Index key = 0; key < 64; ++key) EXPECT_EQ(seen(query, key), key != 1);
  EXPECT_EQ(coverage_of(bind_mask(mask, {}), {{16, 32}, {0, 16}}, 0), Coverage::partial);
}

TEST(Where, B110_BlocksOfThePatternAreNotTiles) {
  const auto mask = where([](Index query, Index key) { return query / 2 == key / 2; });
  EXPECT_EQ(to_string(mask, 4, 4), "##..\n##..\n..##\n..##\n");
}

}  // namespace
}  // namespace headwise::mask::where_test
