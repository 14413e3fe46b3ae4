#pragma once

#include <headwise/core/mask_queries.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <type_traits>
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

/// A bound test behind plain functions, so that the laws are compiled once and not for every mask.
struct Asked {
  std::function<bool(Place query, Place key)> allows;
  std::function<Coverage(Tile rows, Index offset)> coverage;
  std::function<std::vector<Range>(Place query)> runs;  ///< empty when the mask has none

  bool sees(Index query, Index key, Index offset) const {
    return allows(place(query, offset), place(key, 0));
  }
};

template <class Bound>
Asked ask(const Bound& bound) {
  Asked asked;
  asked.allows = [bound](Place query, Place key) { return headwise::allows(bound, query, key); };
  asked.coverage = [bound](Tile rows, Index offset) { return coverage_of(bound, rows, offset); };
  if constexpr (has_runs<Bound>()) {
    asked.runs = [bound](Place query) {
      const auto runs = runs_of(bound, query);
      return std::vector<Range>(runs.begin(), runs.end());
    };
  }
  return asked;
}

inline Coverage brute_force(const Asked& mask, Tile rows, Index offset) {
  Index seen = 0;
  for (Index q = rows.queries.begin; q < rows.queries.end; ++q)
    for (Index k = rows.keys.begin; k < rows.keys.end; ++k) seen += mask.sees(q, k, offset) ? 1 : 0;
  if (seen == 0) return Coverage::none;
  return seen == rows.queries.size() * rows.keys.size() ? Coverage::full : Coverage::partial;
}

/// Ranges of `size` at awkward origins, cut off where the domain ends.
inline std::vector<Range> ranges(Range domain, Index size) {
  std::vector<Range> result;
  for (Index origin : {-70, -65, -64, -5, -1, 0, 1, 2, 3, 7, 12, 31, 62, 63, 64, 65, 69, 77, 127, 128, 139}) {
    const Range range = intersect({origin, origin + size}, domain);
    if (!range.empty()) result.push_back(range);
  }
  return result;
}

inline std::vector<Tile> tiles(Tile domain) {
  std::vector<Tile> result;
  for (Index height : {1, 2, 64})
    for (Index width : {1, 2, 64})
      for (Range queries : ranges(domain.queries, height))
        for (Range keys : ranges(domain.keys, width)) result.push_back({queries, keys});
  return result;
}

/// `none` and `full` are only said of tiles that are so; `exact` asks that they are said of all that are.
inline void expect_coverage_holds(const Asked& mask, Tile domain, Index offset, bool exact) {
  for (const Tile& tile : tiles(domain)) {
    const Coverage said = mask.coverage(tile, offset);
    if (said == Coverage::partial && !exact) continue;
    EXPECT_EQ(int(said), int(brute_force(mask, tile, offset)))
        << "queries [" << tile.queries.begin << ", " << tile.queries.end << "), keys [" << tile.keys.begin
        << ", " << tile.keys.end << "), offset " << offset;
  }
}

/// Runs are sorted, apart, not empty, and hold exactly the keys that `allows` names.
inline void expect_runs_are_exact(const Asked& mask, Tile domain, Index offset) {
  for (Index q = domain.queries.begin; q < domain.queries.end; ++q) {
    const std::vector<Range> runs = mask.runs(place(q, offset));
    for (std::size_t i = 0; i < runs.size(); ++i) {
      EXPECT_FALSE(runs[i].empty()) << "query " << q << ", run " << i;
      if (i == 0) continue;
      EXPECT_LT(runs[i - 1].end, runs[i].begin) << "query " << q << ", run " << i;
    }
    for (Index k = domain.keys.begin; k < domain.keys.end; ++k) {
      const bool listed = std::any_of(runs.begin(), runs.end(), [&](Range run) { return run.contains(k); });
      ASSERT_EQ(listed, mask.sees(q, k, offset)) << "query " << q << ", key " << k << ", offset " << offset;
    }
  }
}

/// Every query sees the same keys in both; the second stands `offset` further on.
inline void expect_equal_answers(const Asked& a, const Asked& b, Tile domain, Index offset) {
  for (Index q = domain.queries.begin; q < domain.queries.end; ++q) {
    for (Index k = domain.keys.begin; k < domain.keys.end; ++k) {
      ASSERT_EQ(a.sees(q, k, 0), b.sees(q, k, offset)) << "query " << q << ", key " << k;
    }
  }
}

}  // namespace laws

template <class P>
class MaskLaws : public testing::Test {
 public:
  using Mask = std::remove_cvref_t<decltype(laws::masks<P>().front())>;

  /// Calls law(bound test, context, domain, mask) for every sample mask in every sample context.
  static void for_each_sample(const auto& law) {
    const auto masks = laws::masks<P>();
    for (const Context& context : laws::contexts<P>()) {
      for (const Mask& mask : masks) {
        check_mask(mask, context);
        law(laws::ask(bind_mask(mask, context)), context, laws::domain<P>(context), mask);
      }
    }
  }
};

TYPED_TEST_SUITE_P(MaskLaws);

TYPED_TEST_P(MaskLaws, CoverageNeverContradictsAllows) {
  this->for_each_sample([](const laws::Asked& bound, const Context&, Tile domain, const auto&) {
    for (Index offset : {0, 7}) laws::expect_coverage_holds(bound, domain, offset, laws::exact<TypeParam>());
  });
}

TYPED_TEST_P(MaskLaws, RunsAreExactlyTheKeysThatAllowsNames) {
  this->for_each_sample([](const laws::Asked& bound, const Context&, Tile domain, const auto&) {
    if (!bound.runs) return;
    for (Index offset : {0, 7}) laws::expect_runs_are_exact(bound, domain, offset);
  });
}

TYPED_TEST_P(MaskLaws, WhatItSaysItDoesNotReadDoesNotMatter) {
  using Tested = typename TestFixture::Mask;
  this->for_each_sample(
      [](const laws::Asked& bound, const Context& context, Tile domain, const Tested& mask) {
        if (!needs_query_position<Tested>()) laws::expect_equal_answers(bound, bound, domain, 7);
        if (depends_on_head<Tested>()) return;
        Context last = context;
        last.head = context.heads - 1;
        laws::expect_equal_answers(bound, laws::ask(bind_mask(mask, last)), domain, 0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(MaskLaws, CoverageNeverContradictsAllows, RunsAreExactlyTheKeysThatAllowsNames,
                            WhatItSaysItDoesNotReadDoesNotMatter);

}  // namespace headwise::mask
