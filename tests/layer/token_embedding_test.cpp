#include <headwise/layer/token_embedding.hpp>

#include <gtest/gtest.h>

#include "layer/parameters.hpp"
#include "layer/plain_layers.hpp"
#include "support/check.hpp"
#include "support/thrown.hpp"

#include <string>
#include <vector>

namespace headwise::layer {
namespace {

namespace hw = headwise;

using check::near;
using check::random;
using check::thrown;

using Ids = std::vector<TokenId>;
using Positions = std::vector<Position>;

TEST(Embedding, IsTheRowsOfItsTableAndScoresAgainstThem) {
  Rng rng(1);
  // [docs layer/embedding]
  const hw::layer::Embedding<double> tokens({.count = 50, .width = 8}, rng);
  const hw::Matrix<double> x = tokens(std::vector<hw::TokenId>{3, 49});  // [2, 8]
  const hw::Matrix<double> scores = tokens.scores(x);                    // [2, 50], tied to the table
  // [docs end]
  EXPECT_EQ(x.row(1), tokens.weight().row(49));
  EXPECT_TRUE(near(scores, reference::product(x, tokens.weight().transpose()), 1e-13));
  EXPECT_EQ(thrown<ShapeError>([&] { (void)tokens(Ids{50}); }),
            "embed: ids[0] is 50, expected a row of the table, 0 to 49");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)tokens.scores(random(1, 7, 1)); }),
            "Embedding: columns of x is 7, expected 8");
}

TEST(TokenEmbedding, AddsTokenPlaceAndKindAndThenNormalises) {
  TokenEmbedding<double> embedding({.vocab_size = 9,
                                    .d_model = 6,
                                    .positions = InputPositions::learned,
                                    .max_positions = 5,
                                    .kinds = 2,
                                    .scale = 3,
                                    .norm = NormOptions{.width = 6, .eps = 1e-3}},
                                   Initial::zeros());
  check::randomise(embedding, 4);
  const auto p = check::parameters_of(embedding);
  const Ids ids{8, 2, 2}, kinds{0, 1, 1};
  const Positions positions{0, 4, 1};
  Matrix<double> sum(3, 6);
  for (Index i = 0; i < 3; ++i) {
    const auto at = std::size_t(i);
    sum.row(i) = 3 * p.at("tokens.weight").row(ids[at]) + p.at("positions.table").row(positions[at]) +
                 p.at("kinds.weight").row(kinds[at]);
  }
  EXPECT_TRUE(near(embedding(ids, positions, kinds), plain::norm(sum, p, "norm", 1e-3), 1e-13));
  EXPECT_TRUE(near(embedding(ids, positions), embedding(ids, positions, Ids{0, 0, 0}), 0));
}

TEST(TokenEmbedding, HasSinusoidsThatNobodyLearns) {
  Rng rng(1);
  const TokenEmbedding<double> embedding(
      {.vocab_size = 4, .d_model = 4, .positions = InputPositions::sinusoidal}, rng);
  const Matrix<double> x = embedding(Ids{1}, Positions{1});
  const Eigen::RowVector4d sinusoid(0.841470984808, 0.540302305868, 0.009999833334, 0.999950000417);
  EXPECT_TRUE(near(x, embedding.tokens().weight().row(1) + sinusoid, 1e-12));
  EXPECT_EQ(check::parameters_of(embedding).size(), 1u);
}

TEST(TokenEmbedding, NamesTheIdPositionOrKindThatIsNotThere) {
  Rng rng(1);
  const TokenEmbedding<double> embedding(
      {.vocab_size = 9, .d_model = 6, .positions = InputPositions::learned, .max_positions = 5, .kinds = 2},
      rng);
  EXPECT_EQ(thrown<ShapeError>([&] {
              (void)embedding(Ids{1, 9}, Positions{0, 1});
            }),
            "embed: ids[1] is 9, expected a row of the table, 0 to 8");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)embedding(Ids{1}, Positions{0}, Ids{2}); }),
            "add_embedding: ids[0] is 2, expected a row of the table, 0 to 1");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)embedding(Ids{1}, Positions{5}); }).substr(0, 49),
            "add_positions: positions[0] is 5, expected 0 to 4");
  EXPECT_EQ(thrown<ShapeError>([&] {
              TokenEmbedding<double>({.vocab_size = 9, .d_model = 6, .positions = InputPositions::learned},
                                     rng);
            }),
            "TokenEmbedding: max_positions is 0, expected a positive number");
}

}  // namespace
}  // namespace headwise::layer
