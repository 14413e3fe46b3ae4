#include <headwise/kernel/schedule.hpp>
#include <headwise/mask/algebra.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/none.hpp>
#include <headwise/mask/prefix.hpp>
#include <headwise/mask/sliding_window.hpp>

#include <gtest/gtest.h>

namespace headwise::kernel {
namespace {

struct Verdict {
  bool any = false, all = true;
};

/// What a panel is, by asking the mask about each of its pairs.
template <class Mask>
Verdict by_brute_force(const Mask& mask, const Geometry& g, const PlanItem& item, const QueryBlock& block,
                       Index panel, Index keys) {
  Verdict verdict;
  for (Index i = block.first; i < block.first + block.count; ++i) {
    for (Index j = panel * keys; j < (panel + 1) * keys; ++j) {
      const bool seen =
          j < item.keys.size() && headwise::allows(mask, g.query(item.queries[i]), g.key(item.keys[j]));
      verdict.any = verdict.any || seen;
      verdict.all = verdict.all && seen;
    }
  }
  return verdict;
}

/// Every panel must be in exactly one segment if any pair is seen, and trusted only if all are. With `exact`
/// also nothing else may be visited, and everything that could be trusted must be.
template <class Mask>
void expect_schedule(const Mask& mask, const Plan& plan, const Geometry& g, TileSize size, bool exact) {
  const Schedule schedule = make_schedule(plan, mask, g, size);
  Index blocks = 0;
  for (const PlanItem& item : plan.items) blocks += (item.queries.size() + size.lanes - 1) / size.lanes;
  ASSERT_EQ(Index(schedule.blocks.size()), blocks);
  for (const QueryBlock& block : schedule.blocks) {
    const PlanItem& item = plan.items[std::size_t(block.item)];
    const Index panels = (item.keys.size() + size.keys - 1) / size.keys;
    for (Index panel = 0; panel < panels; ++panel) {
      int visits = 0;
      bool full = false;
      for (const Segment& s : schedule.of(block)) {
        if (s.begin <= panel && panel < s.end) {
          ++visits;
          full = s.full;
        }
      }
      const Verdict truth = by_brute_force(mask, g, item, block, panel, size.keys);
      ASSERT_LE(visits, 1);
      ASSERT_TRUE(visits == 1 || !truth.any) << "a visible panel is skipped";
      ASSERT_TRUE(!full || truth.all) << "a panel is trusted that hides a pair";
      if (exact) {
        ASSERT_EQ(visits == 1, truth.any);
        ASSERT_EQ(full, truth.all);
      }
    }
  }
}

template <class Mask>
void expect_dense_schedules(const Mask& mask, bool exact) {
  for (Index length = 0; length <= 70; length += 7) {
    for (const Position offset : {Position(0), Position(5)}) {
      Geometry g;
      g.q_len = length;
      g.k_len = length + offset;
      g.query_offset = offset;
      for (const TileSize size : {TileSize{1, 1}, TileSize{12, 4}, TileSize{48, 8}})
        expect_schedule(mask, Plan::dense(g.q_len, g.k_len), g, size, exact);
    }
  }
}

TEST(Schedule, IsExactForMasksThatListTheirKeys) {
  expect_dense_schedules(mask::None{}, true);
  expect_dense_schedules(mask::Causal{}, true);
  expect_dense_schedules(mask::SlidingWindow{.width = 9}, true);
}

TEST(Schedule, IsExactUnderTheAlgebra) {
  const Context context;
  expect_dense_schedules(bind_mask(mask::Causal{} - mask::SlidingWindow{.width = 9}, context), true);
  expect_dense_schedules(bind_mask(!mask::SlidingWindow{.width = 20}, context), true);
}

TEST(Schedule, IsSafeForATestThatItKnowsNothingOf) {
  const auto odd = [](Index q, Index k) { return (q + k) % 5 == 0; };
  expect_dense_schedules(bind_mask(odd, Context{}), false);
}

TEST(Schedule, IsSafeForGatheredListsAndPositions) {
  std::vector<Position> positions;
  for (Position i = 0; i < 40; ++i) positions.push_back(Position((i * 17) % 40));
  Geometry g;
  g.q_len = g.k_len = 40;
  Plan plan;
  plan.items.push_back({RowList::affine(1, 3, 13), RowList::of({5, 4, 39, 0, 22, 23, 24, 25, 26})});
  for (const TileSize size : {TileSize{1, 1}, TileSize{12, 4}}) {
    expect_schedule(mask::Causal{}, plan, g, size, false);
    Geometry moved = g;
    moved.query_positions = moved.key_positions = positions;
    expect_schedule(mask::Causal{}, plan, moved, size, false);
    expect_schedule(mask::SlidingWindow{.width = 4}, Plan::dense(40, 40), moved, size, false);
  }
}

TEST(Schedule, GroupsItemsThatShareAQuery) {
  Geometry g;
  g.q_len = g.k_len = 10;
  Plan plan;
  plan.items.push_back({RowList::contiguous({0, 3}), RowList::contiguous({0, 3})});
  plan.items.push_back({RowList::contiguous({5, 9}), RowList::contiguous({0, 3})});
  plan.items.push_back({RowList::of({2, 9}), RowList::contiguous({3, 6})});
  const Schedule schedule = make_schedule(plan, mask::None{}, g, {4, 2});
  ASSERT_EQ(schedule.groups.size(), 2u);
  EXPECT_TRUE(schedule.groups[0].shared);
  EXPECT_EQ(schedule.groups[0].end - schedule.groups[0].begin, 2);
  EXPECT_FALSE(schedule.groups[1].shared);
}

TEST(Schedule, CountsEveryTileOnce) {
  Geometry g;
  g.q_len = g.k_len = 64;
  const Schedule schedule = make_schedule(Plan::dense(64, 64), mask::Causal{}, g, {16, 4});
  EXPECT_EQ(schedule.tiles.skipped + schedule.tiles.partial + schedule.tiles.full, 4 * 16);
  EXPECT_EQ(schedule.tiles.partial, 4 * 4);
  EXPECT_EQ(schedule.tiles.full, 4 * (0 + 1 + 2 + 3));
}

}  // namespace
}  // namespace headwise::kernel
