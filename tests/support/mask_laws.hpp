#pragma once

#include <headwise/core/mask_queries.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

/// What is true of every mask, written once. A mask joins with one line:
///
///     INSTANTIATE_TYPED_TEST_SUITE_P(Causal, MaskLaws, Causal);
///
/// Where one default mask is not enough, the type is a struct of samples:
///
///     struct Windows {
///       static auto masks() { return std::array{SlidingWindow{.width = 1}, SlidingWindow{.width = 65}}; }
///       static std::vector<Context> contexts();              // optional; one head of one sequence if absent
///       static Tile domain(const Context& context);          // optional; rows that may be asked about
///       static constexpr bool coverage_is_exact = true;      // optional; none and full are said whenever
///       true
///     };
namespace headwise::mask {

namespace laws {

/// As far as masks of positions are asked: before the origin, and past every tile size.
inline constexpr Range far{-70, 141};

template <class P>
auto masks() {
  if constexpr (requires { P::masks(); }) {
    return P::masks();
  } else {
    return std::array<P, 1>{};
  }
}

template <class P>
std::vector<Context> contexts() {
  if constexpr (requires { P::contexts(); }) {
    return P::contexts();
  } else {
    Context context;
    context.heads = 4;
    context.query_rows = context.key_rows = {0, 70};
    return {context};
  }
}

template <class P>
Tile domain(const Context& context) {
  if constexpr (requires { P::domain(context); }) {
    return P::domain(context);
  } else {
    return {far, far};
  }
}

/// Masks of rows can be asked about the rows that there are.
inline Tile rows_of(const Context& context) {
  return {{0, context.query_rows.size()}, {0, context.key_rows.size()}};
}

template <class P>
constexpr bool exact() {
  if constexpr (requires { P::coverage_is_exact; }) {
    return P::coverage_is_exact;
  } else {
    return false;
  }
}

inline Place place(Index row, Index offset) { return {Position(row + offset), Position(row)}; }

template <class Bound>
Coverage brute_force(const Bound& mask, Tile rows, Index offset) {
  Index seen = 0;
  for (Index q = rows.queries.begin; q < rows.queries.end; ++q)
    for (Index k = rows.keys.begin; k < rows.keys.end; ++k)
      seen += allows(mask, place(q, offset), place(k, 0)) ? 1 : 0;
  if (seen == 0) return Coverage::none;
  return seen == rows.queries.size() * rows.keys.size() ? Coverage::full : Coverage::partial;
}

/// Tiles of `size` at awkward origins, cut off where the domain ends.
inline std::vector<Range> ranges(Range domain, Index size) {
  std::vector<Range> result;
  for (Index origin : {-70, -65, -64, -5, -1, 0, 1, 2, 3, 7, 12, 31, 62, 63, 64, 65, 69, 77, 127, 128, 139}) {
    const Range range = intersect({origin, origin + size}, domain);
    if (!range.empty()) result.push_back(range);
  }
  return result;
}

inline constexpr std::array<Index, 3> tile_sizes{1, 2, 64};

/// Calls check(tile) for every combination of sizes and origins.
void for_each_tile(Tile domain, auto&& check) {
  for (Index height : tile_sizes)
    for (Index width : tile_sizes)
      for (Range queries : ranges(domain.queries, height))
        for (Range keys : ranges(domain.keys, width)) check(Tile{queries, keys});
}

inline testing::Message at(Tile tile, Index offset) {
  return testing::Message() << "queries [" << tile.queries.begin << ", " << tile.queries.end << "), keys ["
                            << tile.keys.begin << ", " << tile.keys.end << "), offset " << offset;
}

/// `none` and `full` are only said of tiles that are so; `exact` asks that they are said of all that are.
template <class Bound>
void expect_coverage_holds(const Bound& mask, Tile domain, Index offset, bool exact) {
  for_each_tile(domain, [&](Tile tile) {
    const Coverage said = coverage_of(mask, tile, offset);
    if (said == Coverage::partial && !exact) return;
    EXPECT_EQ(int(said), int(brute_force(mask, tile, offset))) << at(tile, offset);
  });
}

/// Runs are sorted, apart, not empty, and hold exactly the keys that `allows` names.
template <class Bound>
void expect_runs_are_exact(const Bound& mask, Tile domain, Index offset) {
  for (Index q = domain.queries.begin; q < domain.queries.end; ++q) {
    const auto runs = runs_of(mask, place(q, offset));
    ASSERT_LE(runs.count, int(runs.run.size()));
    for (int i = 0; i < runs.count; ++i) {
      EXPECT_FALSE(runs.run[std::size_t(i)].empty()) << "query " << q << ", run " << i;
      if (i == 0) continue;
      EXPECT_LT(runs.run[std::size_t(i) - 1].end, runs.run[std::size_t(i)].begin)
          << "query " << q << ", run " << i;
    }
    for (Index k = domain.keys.begin; k < domain.keys.end; ++k) {
      ASSERT_EQ(runs.contains(k), allows(mask, place(q, offset), place(k, 0)))
          << "query " << q << ", key " << k << ", offset " << offset;
    }
  }
}

/// Calls check(bound test, domain, offset) for every sample mask, context and offset.
template <class P>
void for_each_sample(auto&& check) {
  for (const Context& context : contexts<P>()) {
    for (const auto& mask : masks<P>()) {
      check_mask(mask, context);
      for (Index offset : {0, 7}) check(bind_mask(mask, context), domain<P>(context), offset);
    }
  }
}

}  // namespace laws

template <class P>
class MaskLaws : public testing::Test {};

TYPED_TEST_SUITE_P(MaskLaws);

TYPED_TEST_P(MaskLaws, CoverageNeverContradictsAllows) {
  laws::for_each_sample<TypeParam>([](const auto& bound, Tile domain, Index offset) {
    laws::expect_coverage_holds(bound, domain, offset, laws::exact<TypeParam>());
  });
}

TYPED_TEST_P(MaskLaws, RunsAreExactlyTheKeysThatAllowsNames) {
  laws::for_each_sample<TypeParam>([](const auto& bound, Tile domain, Index offset) {
    if constexpr (has_runs<std::remove_cvref_t<decltype(bound)>>()) {
      laws::expect_runs_are_exact(bound, domain, offset);
    }
  });
}

/// A mask that says it reads neither the query's position nor the head answers alike for all of them.
TYPED_TEST_P(MaskLaws, WhatItSaysItDoesNotReadDoesNotMatter) {
  using Mask = std::remove_cvref_t<decltype(laws::masks<TypeParam>().front())>;
  for (const Context& context : laws::contexts<TypeParam>()) {
    Context last = context;
    last.head = context.heads - 1;
    const Tile domain = laws::domain<TypeParam>(context);
    for (const auto& mask : laws::masks<TypeParam>()) {
      const auto bound = bind_mask(mask, context);
      const auto last_head = bind_mask(mask, last);
      for (Index q = domain.queries.begin; q < domain.queries.end; ++q) {
        for (Index k = domain.keys.begin; k < domain.keys.end; ++k) {
          const bool seen = allows(bound, laws::place(q, 0), laws::place(k, 0));
          if (!needs_query_position<Mask>()) {
            ASSERT_EQ(seen, allows(bound, laws::place(q, 7), laws::place(k, 0))) << q << ", " << k;
          }
          if (!depends_on_head<Mask>()) {
            ASSERT_EQ(seen, allows(last_head, laws::place(q, 0), laws::place(k, 0))) << q << ", " << k;
          }
        }
      }
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(MaskLaws, CoverageNeverContradictsAllows, RunsAreExactlyTheKeysThatAllowsNames,
                            WhatItSaysItDoesNotReadDoesNotMatter);

}  // namespace headwise::mask
