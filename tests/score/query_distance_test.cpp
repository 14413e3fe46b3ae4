#include <headwise/attention/attend.hpp>
#include <headwise/attention/label_scores.hpp>
#include <headwise/mask/band.hpp>
#include <headwise/mask/none.hpp>
#include <headwise/score/query_distance.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/pattern_laws.hpp"
#include "support/reference.hpp"
#include "support/score_laws.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

namespace headwise::score::query_distance_test {
namespace {

namespace hw = headwise;

/// Two heads, rows 4 ... 6 of the queries, reach 3.
struct ReachesThree {
  static auto score() { return QueryDistance(check::random(7, 14, 1)); }
  static std::vector<Context> contexts() {
    Context c = laws::context(1, 2, 3, 4, 0);
    c.query_rows = {4, 7};
    return {c};
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(QueryDistance, ScoreLaws, ReachesThree);

TEST(QueryDistance, AddsTheNumberOfQueryAndDistance) {
  const Matrix<double> table = check::random(9, 14, 1);
  const QueryDistance score(table);
  for (const Index head : {0, 1}) {
    Context c = laws::context(head, 2, 5, 8, 0);
    c.query_rows = {4, 9};
    const auto bound = bind_score<double>(score, c);
    for (Position q = 0; q < 5; ++q)
      for (Position k = 0; k < 8; ++k)
        EXPECT_EQ(bound(0.5, q, k), k - q <= 3 && q - k <= 3 ? 0.5 + table(4 + q, 7 * head + 3 + k - q)
                                                             : -std::numeric_limits<double>::infinity());
  }
}

TEST(QueryDistance, GradientsOfSeenPairsStandInTheirQuerysRow) {
  const QueryDistance score(check::random(9, 14, 1));
  Context c = laws::context(1, 2, 5, 8, 0);
  c.query_rows = {4, 9};
  const auto bound = bind_score<double>(score, c);
  std::vector<Matrix<double>> gradients{Matrix<double>::Zero(9, 14)};
  const PairSlot<double> slot = bound.pair_slot(0, gradients);
  for (Position q = 0; q < 5; ++q)
    for (Position k = std::max(0, q - 3); k <= q + 3; ++k)
      EXPECT_EQ(slot.data + q * slot.row_stride + k * slot.column_stride,
                &gradients[0](4 + q, 7 + 3 + k - q));
}

TEST(QueryDistance, KeysOutOfReachHaveNoGradient) {
  const QueryDistance score(check::random(5, 3, 1));
  const auto bound = bind_score<double>(score, laws::context(0, 1, 5, 5, 0));
  EXPECT_EQ(bound.pull_back(1.0, 0, 2, 0.5).score, 0.0);
  EXPECT_EQ(bound.pull_back(1.0, 3, 2, 0.5).score, 0.5);
  EXPECT_EQ(bound.pull_back(1.0, 3, 2, 0.5).learned[0], 0.5);
}

TEST(QueryDistance, RefusesATableThatDoesNotFit) {
  const auto refusal = [](Index rows, Index cols) {
    return check::refusal(
        [&] { check_score(QueryDistance(check::random(rows, cols, 1)), laws::context(0, 2, 5, 5, 0)); });
  };
  EXPECT_EQ(refusal(5, 6), "accepted");
  EXPECT_EQ(refusal(4, 6), "QueryDistance: table rows is 4, expected 5; one a query");
  EXPECT_EQ(refusal(5, 7), "QueryDistance: table columns is 7, expected a multiple of 2 (heads)");
  EXPECT_EQ(refusal(5, 8),
            "QueryDistance: table columns of one head is 4, expected an odd number, 2 reach + 1");
}

/// Shaw et al., equation 4: a query meets the sum of a key and the vector of the distance between them.
TEST(QueryDistance, IsTheProductOfAQueryAndALearnedVectorOfTheDistance) {
  const Index dim = 4;
  const Matrix<double> query = check::random(19, 2 * dim, 1), key = check::random(19, 2 * dim, 2),
                       value = check::random(19, 2 * dim, 3), vectors = check::random(5, 2 * dim, 4);
  // [docs score/query_distance]
  // Five learned vectors [5, heads * head_dim]: of the distances 0, 1, 2 and more, -1, -2 and more. Up to six
  // tokens apart.
  const auto table = hw::label_scores(query, vectors, hw::distance_labels(6, 2), 2);
  const hw::mask::Band near{.left = 6, .right = 6};
  const auto out = hw::attend(query, key, value, {.heads = 2}, near, hw::score::QueryDistance(table));
  // [docs end]
  const auto label = [](Index ahead) {
    return ahead < 0 ? 2 + std::min<Index>(-ahead, 2) : std::min<Index>(ahead, 2);
  };
  for (const Index head : {0, 1}) {
    reference::Problem p;
    p.allows = [](Index q, Index k) { return std::abs(k - q) <= 6; };
    p.score = [&](double s, Index q, Index k) {
      for (Index x = dim * head; x < dim * (head + 1); ++x) s += query(q, x) * vectors(label(k - q), x) / 2;
      return s;
    };
    const auto of_head = [&](const Matrix<double>& x) -> Matrix<double> {
      return x.middleCols(dim * head, dim);
    };
    EXPECT_TRUE(check::near(
        of_head(out), reference::forward(of_head(query), of_head(key), of_head(value), p).output, 1e-13));
  }
}

}  // namespace
}  // namespace headwise::score::query_distance_test
