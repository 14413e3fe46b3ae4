#include <headwise/attention/attend.hpp>
#include <headwise/attention/label_scores.hpp>
#include <headwise/mask/documents.hpp>
#include <headwise/mask/none.hpp>
#include <headwise/mask/where.hpp>
#include <headwise/score/query_choice.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/pattern_laws.hpp"
#include "support/reference.hpp"
#include "support/score_laws.hpp"

#include <vector>

namespace headwise::score::query_choice_test {
namespace {

namespace hw = headwise;

auto even() {
  return mask::where([](Index q, Index k) { return (q + k) % 2 == 0; });
}

Context rows_from_four(Index head) {
  Context c = laws::context(head, 2, 3, 4, 0);
  c.query_rows = {4, 7};
  return c;
}

struct OfParity {
  static auto score() { return QueryChoice(check::random(7, 4, 1), even()); }
  static std::vector<Context> contexts() { return {rows_from_four(0), rows_from_four(1)}; }
};
INSTANTIATE_TYPED_TEST_SUITE_P(QueryChoice, ScoreLaws, OfParity);

TEST(QueryChoice, AddsOneOfTwoNumbersOfTheQuery) {
  const Matrix<double> table = check::random(9, 4, 1);
  const QueryChoice score(table, even());
  for (const Index head : {0, 1}) {
    const auto bound = bind_score<double>(score, rows_from_four(head));
    for (Position q = 0; q < 3; ++q)
      for (Position k = 0; k < 4; ++k)
        EXPECT_EQ(headwise::apply(bound, 0.5, Place{q, q}, Place{k, k}),
                  0.5 + table(4 + q, 2 * head + ((q + k) % 2 == 0 ? 1 : 0)));
  }
}

TEST(QueryChoice, AllKeysOfAQueryShareItsTwoGradients) {
  const QueryChoice score(check::random(9, 4, 1), even());
  const auto bound = bind_score<double>(score, rows_from_four(1));
  std::vector<Matrix<double>> gradients{Matrix<double>::Zero(9, 4)};
  for (std::size_t n : {0u, 1u}) {
    const PairSlot<double> slot = bound.pair_slot(n, gradients);
    for (Position q = 0; q < 3; ++q)
      EXPECT_EQ(slot.data + q * slot.row_stride + 3 * slot.column_stride, &gradients[0](4 + q, 2 + Index(n)));
  }
}

TEST(QueryChoice, RefusesWhatDoesNotFit) {
  const auto refusal = [](Index rows, Index cols) {
    return check::refusal([&] {
      check_score(QueryChoice(check::random(rows, cols, 1), even()), laws::context(0, 2, 5, 5, 0));
    });
  };
  EXPECT_EQ(refusal(5, 4), "accepted");
  EXPECT_EQ(refusal(4, 4), "QueryChoice: table rows is 4, expected 5; one a query");
  EXPECT_EQ(refusal(5, 6), "QueryChoice: table columns is 6, expected 4; two a head");
  const mask::ScatteredDocuments relation({0, 0, 1}, {0, 1});
  EXPECT_NE(check::refusal([&] {
              check_score(QueryChoice(check::random(5, 2, 1), relation), laws::context(0, 1, 5, 2, 0));
            }),
            "accepted");
}

/// Ainslie et al., section 3.2: a token is told its own sentence from the others by two learned vectors.
TEST(QueryChoice, IsTheProductOfAQueryAndOneOfTwoLearnedVectors) {
  const Index dim = 4;
  const std::vector<TokenId> sentences{0, 0, 0, 1, 1, 0, 2, 2, 1};
  const Matrix<double> query = check::random(9, dim, 1), key = check::random(9, dim, 2),
                       value = check::random(9, dim, 3), vectors = check::random(2, dim, 4);
  // [docs score/query_choice]
  // Two learned vectors [2, head_dim]: of the tokens of other sentences, and of those of a token's own.
  const std::vector<hw::Index> other_and_own{0, 1};
  const auto table = hw::label_scores(query, vectors, other_and_own);
  const hw::score::QueryChoice choice(table, hw::mask::ScatteredDocuments(sentences, sentences));
  const auto out = hw::attend(query, key, value, hw::mask::None{}, choice);
  // [docs end]
  reference::Problem p;
  p.score = [&](double s, Index q, Index k) {
    const Index label = sentences[std::size_t(q)] == sentences[std::size_t(k)] ? 1 : 0;
    for (Index x = 0; x < dim; ++x) s += query(q, x) * vectors(label, x) / 2;
    return s;
  };
  EXPECT_TRUE(check::near(out, reference::forward(query, key, value, p).output, 1e-13));
}

}  // namespace
}  // namespace headwise::score::query_choice_test
