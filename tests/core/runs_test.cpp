#include <headwise/core/runs.hpp>

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace headwise {
namespace {

constexpr Index universe = 9;

/// The members of runs among -1, ..., universe, asked one by one.
template <int N>
std::set<Index> members(const Runs<N>& runs) {
  std::set<Index> keys;
  for (Index key = -1; key <= universe; ++key)
    for (int i = 0; i < runs.count; ++i)
      if (runs.run[std::size_t(i)].begin <= key && key < runs.run[std::size_t(i)].end) keys.insert(key);
  return keys;
}

/// Sorted, disjoint, not touching, not empty, and no more than fit.
template <int N>
testing::AssertionResult well_formed(const Runs<N>& runs) {
  if (runs.count < 0 || runs.count > N) return testing::AssertionFailure() << runs.count << " runs of " << N;
  for (int i = 0; i < runs.count; ++i) {
    if (runs.run[std::size_t(i)].empty()) return testing::AssertionFailure() << "run " << i << " is empty";
    if (i > 0 && runs.run[std::size_t(i)].begin <= runs.run[std::size_t(i - 1)].end)
      return testing::AssertionFailure() << "runs " << i - 1 << " and " << i << " touch";
  }
  return testing::AssertionSuccess();
}

std::set<Index> keys_where(auto&& test) {
  std::set<Index> keys;
  for (Index key = -1; key <= universe; ++key)
    if (test(key)) keys.insert(key);
  return keys;
}

/// Every subset of {0, ..., universe - 1} that is at most two runs, as runs.
std::vector<Runs<2>> all_pairs_of_runs() {
  std::vector<Runs<2>> all(1);
  for (Index a = 0; a < universe; ++a) {
    for (Index b = a + 1; b <= universe; ++b) {
      Runs<2> one;
      one.append({a, b});
      all.push_back(one);
      for (Index c = b + 1; c < universe; ++c) {
        for (Index d = c + 1; d <= universe; ++d) {
          Runs<2> two = one;
          two.append({c, d});
          all.push_back(two);
        }
      }
    }
  }
  return all;
}

TEST(Runs, DropEmptyRangesAndJoinTouchingOnes) {
  Runs<2> runs;
  runs.append({3, 3});
  runs.append({5, 4});
  EXPECT_EQ(runs.count, 0);
  runs.append({1, 3});
  runs.append({3, 5});
  EXPECT_EQ(runs.count, 1);
  EXPECT_EQ(runs.run[0], (Range{1, 5}));
  runs.append({4, 6});
  EXPECT_EQ(runs.run[0], (Range{1, 6}));
  runs.append({2, 4});
  EXPECT_EQ(runs.run[0], (Range{1, 6})) << "a range inside the last run changes nothing";
  runs.append({8, 9});
  EXPECT_EQ(runs.count, 2);
  EXPECT_EQ(runs.run[1], (Range{8, 9}));
}

TEST(Runs, ContainWhatTheirRangesContain) {
  Runs<2> runs;
  runs.append({1, 3});
  runs.append({5, 6});
  EXPECT_EQ(keys_where([&](Index key) { return runs.contains(key); }), (std::set<Index>{1, 2, 5}));
  EXPECT_FALSE(Runs<1>{}.contains(0));
}

TEST(Runs, HoldOneRunOrNone) {
  EXPECT_EQ(single_run(2, 4).count, 1);
  EXPECT_EQ(single_run(4, 4).count, 0);
  EXPECT_EQ(single_run(5, 4).count, 0);
}

TEST(Runs, AreIterated) {
  Runs<3> runs;
  runs.append({1, 2});
  runs.append({4, 7});
  Index keys = 0;
  for (const Range& r : runs) keys += r.size();
  EXPECT_EQ(keys, 4);
  const Runs<2> none;
  EXPECT_EQ(none.begin(), none.end()) << "no runs, nothing to iterate";
}

TEST(Complement, HoldsExactlyTheOtherKeys) {
  for (const Runs<2>& a : all_pairs_of_runs()) {
    const Runs<3> result = complement(a);
    const std::set<Index> in = members(a);
    ASSERT_TRUE(well_formed(result));
    ASSERT_EQ(members(result), keys_where([&](Index key) { return in.count(key) == 0; }));
    ASSERT_EQ(result.run[0].begin, every_key.begin);
    ASSERT_EQ(result.run[std::size_t(result.count - 1)].end, every_key.end);
  }
}

TEST(Complement, OfEverythingIsNothingAndOfNothingEverything) {
  EXPECT_EQ(complement(single_run(every_key.begin, every_key.end)).count, 0);
  const Runs<2> all = complement(Runs<1>{});
  EXPECT_EQ(all.count, 1);
  EXPECT_EQ(all.run[0], every_key);
}

TEST(Complement, TakenTwiceGivesTheRunsBack) {
  for (const Runs<2>& a : all_pairs_of_runs()) {
    const Runs<4> twice = complement(complement(a));
    ASSERT_EQ(twice.count, a.count);
    for (int i = 0; i < a.count; ++i) ASSERT_EQ(twice.run[std::size_t(i)], a.run[std::size_t(i)]);
  }
}

TEST(Unite, HoldsTheKeysOfEither) {
  const std::vector<Runs<2>> all = all_pairs_of_runs();
  for (const Runs<2>& a : all) {
    const std::set<Index> in_a = members(a);
    for (const Runs<2>& b : all) {
      const Runs<4> result = unite(a, b);
      std::set<Index> expected = members(b);
      expected.insert(in_a.begin(), in_a.end());
      ASSERT_TRUE(well_formed(result));
      ASSERT_EQ(members(result), expected);
    }
  }
}

TEST(Intersect, HoldsTheKeysOfBoth) {
  const std::vector<Runs<2>> all = all_pairs_of_runs();
  for (const Runs<2>& a : all) {
    for (const Runs<2>& b : all) {
      const Runs<4> result = intersect(a, b);
      const std::set<Index> in_a = members(a), in_b = members(b);
      ASSERT_TRUE(well_formed(result));
      ASSERT_EQ(members(result),
                keys_where([&](Index key) { return in_a.count(key) + in_b.count(key) == 2; }));
    }
  }
}

TEST(Unite, FillsItsWholeCapacityWhenNothingTouches) {
  Runs<2> a, b;
  a.append({0, 1});
  a.append({4, 5});
  b.append({2, 3});
  b.append({6, 7});
  EXPECT_EQ(unite(a, b).count, 4);
}

TEST(Intersect, OfInterleavedRunsHasOneRunLessThanBothTogether) {
  Runs<2> a, b;
  a.append({0, 4});
  a.append({5, 9});
  b.append({3, 6});
  b.append({8, 9});
  const Runs<4> both = intersect(a, b);
  EXPECT_EQ(both.count, 3);
  EXPECT_EQ(both.run[0], (Range{3, 4}));
  EXPECT_EQ(both.run[1], (Range{5, 6}));
  EXPECT_EQ(both.run[2], (Range{8, 9}));
}

TEST(Runs, AreComputedWhileCompiling) {
  static_assert(unite(single_run(0, 2), single_run(2, 3)).count == 1);
  static_assert(intersect(single_run(0, 2), complement(single_run(1, 3))).contains(0));
  static_assert(Runs<3>::capacity == 3);
  SUCCEED();
}

}  // namespace
}  // namespace headwise
