#include <headwise/autograd/label_scores.hpp>

#include "autograd/laws.hpp"
#include "support/pattern_laws.hpp"

#include <span>
#include <vector>

namespace headwise::label_scores_test {
namespace {

using check::near;
using check::random;

TEST(LabelScores, AreProductsOfQueriesAndTheListedRows) {
  const auto query = random(5, 6, 1), table = random(4, 6, 2);
  const std::vector<Index> labels{3, 0, 3};
  const Matrix<double> got = label_scores(query, table, labels, 2);
  ASSERT_EQ(got.rows(), 5);
  ASSERT_EQ(got.cols(), 6);
  for (Index i = 0; i < 5; ++i) {
    for (Index head = 0; head < 2; ++head) {
      for (Index w = 0; w < 3; ++w) {
        double sum = 0;
        for (Index c = 3 * head; c < 3 * head + 3; ++c) sum += query(i, c) * table(labels[std::size_t(w)], c);
        EXPECT_NEAR(got(i, 3 * head + w), sum / std::sqrt(3.0), 1e-14);
      }
    }
  }
}

TEST(LabelScores, HaveTheGradientsOfQueryAndTable) {
  laws::expect_gradients(
      [](const auto& x) {
        const std::vector<Index> labels{3, 0, 3, 1};
        return label_scores(x[0], x[1], std::span<const Index>(labels), 2);
      },
      {random(5, 6, 1), random(4, 6, 2)});
}

TEST(LabelScores, DistancesHaveTheLabelsOfThePaper) {
  const Index expected[6][6] = {{0, 1, 2, 3, 3, 3}, {4, 0, 1, 2, 3, 3}, {5, 4, 0, 1, 2, 3},
                                {6, 5, 4, 0, 1, 2}, {6, 6, 5, 4, 0, 1}, {6, 6, 6, 5, 4, 0}};
  const std::vector<Index> labels = distance_labels(5, 3);
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 6; ++j) EXPECT_EQ(labels[std::size_t(5 + j - i)], expected[i][j]);
}

TEST(LabelScores, RefuseWhatDoesNotFit) {
  const auto x = random(2, 6, 1);
  const std::vector<Index> labels{0, 2};
  EXPECT_EQ(check::refusal([&] { (void)label_scores(x, random(3, 4, 2), labels, 2); }),
            "label_scores: table columns is 4, expected 6; one vector a label and head");
  EXPECT_EQ(check::refusal([&] { (void)label_scores(x, random(2, 6, 2), labels, 2); }),
            "label_scores: labels[1] is 2, expected a row of the table, 0 to 1");
  EXPECT_EQ(check::refusal([&] { (void)distance_labels(-1, 2); }),
            "distance_labels: reach is -1, expected zero or more");
}

}  // namespace
}  // namespace headwise::label_scores_test
