#include <headwise/model/big_bird.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/pattern_laws.hpp"

namespace headwise::model {
namespace {

using check::near;

TEST(BigBirdModel, TakesTheTablesOfItsLayers) {
  namespace hw = headwise;
  hw::Rng rng(1);
  // [docs model/big_bird]
  const hw::model::EncoderOptions encoder{.vocab_size = 50, .d_model = 16, .layers = 2, .heads = 2};
  const hw::model::BigBird<double> model({.encoder = encoder, .block_size = 4, .random = 2}, rng);
  std::vector<hw::TokenId> ids;
  for (hw::TokenId i = 0; i < 48; ++i) ids.push_back(i);
  const auto tables = model.draw(/*length=*/48, /*seed=*/7);
  const hw::Matrix<double> sparse = model(ids, {}, tables);
  const hw::Matrix<double> full = model(ids, {}, {});  // no tables: full attention
  // [docs end]
  EXPECT_FALSE(near(sparse, full, 1e-3));
  // Short texts have no block that the window and the ends leave out: sparse and full are the same.
  const std::vector<TokenId> few(ids.begin(), ids.begin() + 12);
  EXPECT_TRUE(
      near(model(few, {}, std::vector<mask::RandomBlocks>(2, mask::RandomBlocks(4, 3, 1, {-1, -1, -1}))),
           model(few, {}, {}), 1e-12));
  EXPECT_EQ(check::refusal([&] { (void)model(ids, {}, {tables[0]}); }),
            "BigBird: tables is 1, expected 2; one a layer, or none");
  EXPECT_EQ(check::refusal([&] { (void)model.draw(22, 7); }),
            "BigBird: blocks of 22 tokens is 6, expected at least 7 (random + 5); a text so short needs no "
            "tables: give none, for full attention");
  EXPECT_EQ(model.draw(28, 7).size(), 2u);
  EXPECT_EQ(check::refusal([&] { (void)model::BigBird<double>({.encoder = encoder, .block_size = 0}, rng); }),
            "BigBird: block_size is 0, expected a positive number");
}

}  // namespace
}  // namespace headwise::model
