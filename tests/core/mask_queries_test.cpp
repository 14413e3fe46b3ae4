#include <headwise/core/mask_queries.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace headwise {
namespace {

constexpr Place at(Position position, Position row) { return {position, row}; }

/// A test of its own with all optional members, by position.
struct ByPosition {
  bool allows(Index query, Index key) const { return key <= query; }
  Runs<1> runs(Index query) const { return single_run(0, query + 1); }
  Coverage coverage(Tile tile) const {
    return tile.keys.begin >= tile.queries.end ? Coverage::none : Coverage::full;
  }
};

/// The same by row, saying so.
struct ByRow : ByPosition {
  static constexpr Coordinates coordinates = Coordinates::rows;
};

/// Tests places, as combinators do, and has a list that makes it costly to copy.
struct ByPlace {
  std::vector<Position> positions;
  bool allows(Place query, Place key) const { return query.row == key.row && positions[0] == key.position; }
  Runs<1> runs(Place query) const { return single_run(query.row, query.position); }
  Coverage coverage(const PlaceTile& tile) const {
    return tile.rows.keys.empty() || tile.positions.keys.empty() ? Coverage::none : Coverage::partial;
  }
};

/// Differs from head to head and from sequence to sequence; refuses more than two heads.
struct PerHead {
  static constexpr bool reads_head = true;
  struct Bound {
    static constexpr bool reads_query = false;
    Index key_seen = 0;
    bool allows(Index, Index key) const { return key == key_seen; }
  };
  Bound bind(const Context& context) const { return {10 * context.sequence + context.head}; }
  void check(const Context& context) const {
    if (context.heads > 2) throw std::invalid_argument("too many heads");
  }
};

Context head_of_sequence(Index head, Index sequence) {
  Context context;
  context.head = head;
  context.heads = 2;
  context.sequence = sequence;
  context.sequences = 4;
  return context;
}

TEST(MaskQueries, ATestOfItsOwnIsAskedInItsCoordinates) {
  const auto by_position = bind_mask(ByPosition{}, {});
  const auto by_row = bind_mask(ByRow{}, {});
  EXPECT_TRUE(allows(by_position, at(5, 0), at(4, 1)));
  EXPECT_FALSE(allows(by_row, at(5, 0), at(4, 1)));
  EXPECT_EQ(runs_of(by_position, at(5, 0)).run[0], (Range{0, 6}));
  EXPECT_EQ(runs_of(by_row, at(5, 0)).run[0], (Range{0, 1}));
}

TEST(MaskQueries, TilesAreMovedByTheOffsetForMasksOfPositionsOnly) {
  const Tile rows{{0, 2}, {2, 4}};
  EXPECT_EQ(coverage_of(bind_mask(ByPosition{}, {}), rows, 0), Coverage::none);
  EXPECT_EQ(coverage_of(bind_mask(ByPosition{}, {}), rows, 1), Coverage::full);
  EXPECT_EQ(coverage_of(bind_mask(ByRow{}, {}), rows, 1), Coverage::none);
  EXPECT_EQ(coverage_of(bind_mask(PerHead{}, {}), rows, 0), Coverage::partial)
      << "what is not said is not known";
}

TEST(MaskQueries, ABigTestIsReferredToAndStaysWhole) {
  ByPlace mask{{7}};
  const auto bound = bind_mask(mask, {});
  static_assert(std::is_trivially_copyable_v<decltype(bound)> && sizeof(bound) == sizeof(void*));
  static_assert(PlaceTest<decltype(bound)> && !PairTest<decltype(bound)>);
  static_assert(HasPlaceRuns<decltype(bound)> && HasPlaceCoverage<decltype(bound)> &&
                !HasCoverage<decltype(bound)>);
  EXPECT_TRUE(allows(bound, at(0, 3), at(7, 3)));
  EXPECT_FALSE(allows(bound, at(0, 3), at(8, 3)));
  mask.positions[0] = 8;
  EXPECT_TRUE(allows(bound, at(0, 3), at(8, 3))) << "copied";
  EXPECT_EQ(runs_of(bound, at(9, 3)).run[0], (Range{3, 9}));
  EXPECT_EQ(coverage_of(bound, Tile{{0, 1}, {0, 0}}, 0), Coverage::none);
}

TEST(MaskQueries, BindingChoosesHeadAndSequence) {
  const auto bound = bind_mask(PerHead{}, head_of_sequence(1, 3));
  EXPECT_TRUE(allows(bound, at(0, 0), at(31, 0)));
  EXPECT_FALSE(allows(bound, at(0, 0), at(30, 0)));
}

TEST(MaskQueries, CallablesAreMasks) {
  const auto pair = [](Index query, Index key) { return query > key; };
  const auto four = [](Index, Index key, Index head, Index sequence) { return key == 10 * sequence + head; };
  const std::function<bool(Index, Index)> function = pair;
  EXPECT_TRUE(allows(bind_mask(pair, {}), at(2, 0), at(1, 0)));
  EXPECT_FALSE(allows(bind_mask(function, {}), at(1, 0), at(1, 0)));
  EXPECT_TRUE(allows(bind_mask(four, head_of_sequence(1, 3)), at(0, 0), at(31, 0)));
  EXPECT_FALSE(allows(bind_mask(four, head_of_sequence(0, 3)), at(0, 0), at(31, 0)));
}

TEST(MaskQueries, KnowsWhatAMaskReads) {
  const auto pair = [](Index query, Index key) { return query > key; };
  const auto four = [](Index, Index, Index, Index) { return true; };
  static_assert(needs_query_position<ByPosition>() && needs_query_position<ByPlace>());
  static_assert(!needs_query_position<ByRow>() && !needs_query_position<PerHead>());
  static_assert(needs_query_position<decltype(pair)>());
  static_assert(depends_on_head<PerHead>() && depends_on_head<decltype(four)>());
  static_assert(!depends_on_head<ByPosition>() && !depends_on_head<decltype(pair)>());
  static_assert(runs_read_positions<ByPosition>() && !runs_read_positions<ByRow>());
  static_assert(has_runs<ByPosition>() && has_runs<ByPlace>() && !has_runs<PerHead::Bound>());
}

TEST(MaskQueries, ChecksOnlyMasksThatHaveACheck) {
  Context three = head_of_sequence(0, 0);
  three.heads = 3;
  EXPECT_THROW(check_mask(PerHead{}, three), std::invalid_argument);
  EXPECT_NO_THROW(check_mask(PerHead{}, head_of_sequence(0, 0)));
  EXPECT_NO_THROW(check_mask(ByPosition{}, three));
}

}  // namespace
}  // namespace headwise
