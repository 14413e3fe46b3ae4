#include <headwise/attention/attend_backward.hpp>

#include <gtest/gtest.h>

#include "support/any_mask.hpp"
#include "support/check.hpp"
#include "support/heads.hpp"

#include <algorithm>
#include <numeric>

namespace headwise::attend_over_plan_test {
namespace {

using check::AnyMask;
using check::near;
using check::random;

AnyMask everything() {
  return [](Index, Index) { return true; };
}

/// The pairs that a plan lists, as a matrix.
Eigen::MatrixXi pairs_of(const Plan& plan, Index q_len, Index k_len) {
  Eigen::MatrixXi pairs = Eigen::MatrixXi::Zero(q_len, k_len);
  for (const PlanItem& item : plan.items)
    for (Index i = 0; i < item.queries.size(); ++i)
      for (Index j = 0; j < item.keys.size(); ++j) ++pairs(item.queries[i], item.keys[j]);
  return pairs;
}

/// Forward and backward of a plan under a mask, against plain loops over the listed pairs.
void expect_plan(const Plan& plan, Index length, const AnyMask& mask) {
  const auto query = random(length, 6, 1), key = random(length, 6, 2), value = random(length, 5, 3),
             d = random(length, 5, 4);
  const Eigen::MatrixXi pairs = pairs_of(plan, length, length);
  ASSERT_LE(pairs.maxCoeff(), 1) << "these plans list no pair twice";
  reference::Problem problem;
  problem.allows = [&](Index q, Index k) { return pairs(q, k) == 1 && mask(q, k); };

  const Plans plans{{plan}};
  const auto attended = attend_over(plans, query, key, value, AttendOptions{}, mask);
  const auto expected = reference::forward(query, key, value, problem);
  EXPECT_TRUE(near(attended.output, expected.output, 1e-12));
  for (Index i = 0; i < length; ++i) {
    const double lse = expected.lse[std::size_t(i)];
    EXPECT_TRUE(attended.lse(i, 0) == lse || std::abs(attended.lse(i, 0) - lse) < 1e-12) << "row " << i;
  }

  const auto gradients = attend_over_backward(plans, query, key, value, attended, d, AttendOptions{}, mask);
  const auto adjoint = reference::backward(query, key, value, d, problem);
  EXPECT_TRUE(near(gradients.query, adjoint.query, 1e-12));
  EXPECT_TRUE(near(gradients.key, adjoint.key, 1e-12));
  EXPECT_TRUE(near(gradients.value, adjoint.value, 1e-12));
}

TEST(AttendOverPlan, ComputesStridedClasses) {
  for (const Index length : {1, 12, 65, 130}) {
    Plan plan;
    for (Index r = 0; r < std::min<Index>(4, length); ++r) {
      const RowList rows = RowList::affine(r, 4, (length - r + 3) / 4);
      plan.items.push_back({rows, rows});
    }
    expect_plan(plan, length, everything());
    expect_plan(plan, length, [](Index q, Index k) { return k <= q; });
  }
}

TEST(AttendOverPlan, ComputesExplicitListsInAnyOrder) {
  const Index length = 97;
  std::vector<Index> order(std::size_t{97});
  std::iota(order.begin(), order.end(), Index(0));
  Rng rng(5);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[std::size_t(rng.below(Index(i)))]);
  Plan plan;
  for (Index begin = 0; begin < length; begin += 30) {
    const auto first = order.begin() + begin, last = order.begin() + std::min<Index>(begin + 30, length);
    const std::vector<Index> rows(first, last);
    plan.items.push_back({RowList::of(rows), RowList::of(rows)});
  }
  expect_plan(plan, length, everything());
  expect_plan(plan, length, [](Index q, Index k) { return k <= q; });
}

TEST(AttendOverPlan, GivesAQueryOfSeveralItemsOneSoftmax) {
  // Global tokens and a window without them: every row's keys come in two pieces.
  const Index length = 70;
  Plan plan;
  plan.items.push_back({RowList::contiguous({0, length}), RowList::of({3, 40})});
  for (Index begin = 0; begin < length; begin += 10) {
    std::vector<Index> keys;
    for (Index k = std::max<Index>(0, begin - 5); k < std::min<Index>(length, begin + 15); ++k)
      if (k != 3 && k != 40) keys.push_back(k);
    plan.items.push_back(
        {RowList::contiguous({begin, std::min<Index>(begin + 10, length)}), RowList::of(keys)});
  }
  expect_plan(plan, length, everything());
  expect_plan(plan, length, [](Index q, Index k) { return k <= q; });
}

TEST(AttendOverPlan, LeavesQueriesOfNoItemEmpty) {
  Plan plan;
  plan.items.push_back({RowList::affine(8, -2, 5), RowList::contiguous({2, 9})});
  expect_plan(plan, 10, everything());
}

TEST(AttendOverPlan, DoesNotMindTheOrderOfItems) {
  const auto x = random(20, 4, 1);
  Plan plan;
  plan.items.push_back({RowList::contiguous({0, 20}), RowList::contiguous({0, 7})});
  plan.items.push_back({RowList::contiguous({0, 20}), RowList::contiguous({7, 20})});
  Plan reversed{{plan.items[1], plan.items[0]}};
  const auto a = attend_over(Plans{{plan}}, x, x, x, AttendOptions{}, everything());
  const auto b = attend_over(Plans{{reversed}}, x, x, x, AttendOptions{}, everything());
  EXPECT_TRUE(near(a.output, b.output, 1e-15));
  EXPECT_TRUE(near(a.output, reference::attention(x, x, x), 1e-13));
}

TEST(AttendOverPlan, TakesAPlanForEachHead) {
  const auto x = random(16, 8, 1);
  Plans plans;
  plans.heads = 2;
  plans.plans.push_back(Plan{{{RowList::contiguous({0, 16}), RowList::affine(0, 2, 8)}}});
  plans.plans.push_back(Plan{{{RowList::contiguous({0, 16}), RowList::affine(1, 2, 8)}}});
  const auto output = attend_over(plans, x, x, x, {.heads = 2}, everything()).output;
  const auto expected = reference::attention(x, x, x, 2, 2, [](Index h) {
    reference::Problem p;
    p.allows = [h](Index, Index k) { return k % 2 == h; };
    return p;
  });
  EXPECT_TRUE(near(output, expected, 1e-13));
}

TEST(AttendOverPlan, RefusesRowsThatDoNotExist) {
  const auto x = random(4, 4, 1);
  const auto error_of = [&](Plan plan) -> std::string {
    try {
      (void)attend_over(Plans{{std::move(plan)}}, x, x, x, AttendOptions{}, everything());
    } catch (const ShapeError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of({{{RowList::contiguous({0, 5}), RowList::contiguous({0, 4})}}}),
            "Plan: items[0] query row is 4, expected below 4");
  EXPECT_EQ(error_of({{{RowList::contiguous({0, 4}), RowList::of({0, -1})}}}),
            "Plan: items[0] key row is -1, expected zero or more");
  EXPECT_EQ(error_of({{{RowList::of({1, 2, 1}), RowList::of({0})}}}),
            "Plan: items[0] query row 1 is listed twice, expected once");
}

}  // namespace
}  // namespace headwise::attend_over_plan_test
