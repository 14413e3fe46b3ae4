#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/ragged_rows.hpp>
#include <headwise/kernel/plan.hpp>

#include <concepts>

namespace headwise {

/// A pattern that lists its pairs for a sequence of any length, alike for all heads.
template <class P>
concept PlannedPattern = requires(const P& pattern, Index length) {
  { pattern.plan(length) } -> std::same_as<Plan>;
};

/// A pattern whose pairs differ from head to head.
template <class P>
concept PlannedPerHead = requires(const P& pattern, Index length, Index head) {
  { pattern.plan(length, head) } -> std::same_as<Plan>;
};

/// The plans of a batch, for attend_over: what `pattern` lists for each sequence, and for each head where
/// heads differ.
///
/// A plan goes by rows: it serves tokens that stand at 0, 1, 2, ... in self-attention. A mask given with it
/// hides pairs, and never adds any. Throws ShapeError when heads is not positive, and what the pattern
/// throws. Cost: the lists, at most one number a row and item.
template <class Pattern>
requires(PlannedPattern<Pattern> || PlannedPerHead<Pattern>) Plans
    plans_of(const Pattern& pattern, const RaggedRows& rows, Index heads = 1) {
  if (rows.whole()) throw ShapeError("plans_of: rows has no borders, expected the length of each sequence");
  expect_positive("plans_of: heads", heads);
  Plans plans;
  plans.sequences = rows.sequences();
  plans.heads = PlannedPerHead<Pattern> ? heads : 1;
  for (Index s = 0; s < plans.sequences; ++s) {
    for (Index head = 0; head < plans.heads; ++head) {
      if constexpr (PlannedPerHead<Pattern>) {
        plans.plans.push_back(pattern.plan(rows[s].size(), head));
      } else {
        plans.plans.push_back(pattern.plan(rows[s].size()));
      }
    }
  }
  return plans;
}

/// The same for one sequence.
template <class Pattern>
requires(PlannedPattern<Pattern> || PlannedPerHead<Pattern>) Plans
    plans_of(const Pattern& pattern, Index length, Index heads = 1) {
  return plans_of(pattern, RaggedRows::from_lengths({length}), heads);
}

}  // namespace headwise
