#include <headwise/model/longformer.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/pattern_laws.hpp"

#include <span>

namespace headwise::model {
namespace {

using check::near;

/// Texts of a ragged batch are read as each alone.
TEST(Longformer, ReadsTheTextsOfABatchAsEachAlone) {
  namespace hw = headwise;
  hw::Rng rng(1);
  // [docs model/longformer]
  const hw::model::EncoderOptions encoder{.vocab_size = 50, .d_model = 16, .layers = 2, .heads = 2};
  const hw::model::Longformer<double> model({.encoder = encoder, .reach = {2, 4}, .padding_id = 1}, rng);
  const std::vector<hw::TokenId> ids = {5, 6, 7, 8, 9, 5, 3};  // two texts, of 5 and 2 tokens
  const std::vector<bool> global = {true, false, false, false, false, true, false};
  const hw::Matrix<double> logits =
      model(ids, global, {.query_rows = hw::RaggedRows::from_lengths({5, 2})});  // [7, 50]
  // [docs end]
  ASSERT_EQ(logits.rows(), 7);
  const Matrix<double> first = model(std::span(ids).first(5), {true, false, false, false, false});
  const Matrix<double> second = model(std::span(ids).last(2), {true, false});
  EXPECT_TRUE(near(logits.topRows(5).eval(), first, 1e-12));
  EXPECT_TRUE(near(logits.bottomRows(2).eval(), second, 1e-12));
}

TEST(Longformer, RefusesWindowsThatAreNotOneALayer) {
  Rng rng(1);
  const EncoderOptions encoder{.vocab_size = 5, .d_model = 4, .layers = 2, .heads = 1};
  EXPECT_EQ(check::refusal([&] { (void)Longformer<double>({.encoder = encoder, .reach = {3}}, rng); }),
            "Longformer: reach is 1, expected 2; one number a layer");
}

TEST(Longformer, RefusesAnotherWiringThanPostNorm) {
  Rng rng(1);
  for (const layer::Wiring wiring : {layer::Wiring::pre_norm, layer::Wiring::parallel}) {
    const EncoderOptions encoder{.vocab_size = 5, .d_model = 4, .layers = 1, .heads = 1, .wiring = wiring};
    EXPECT_EQ(check::refusal([&] { (void)Longformer<double>({.encoder = encoder, .reach = {3}}, rng); }),
              "PatternEncoder: wiring is another one, expected post_norm; no norm follows the last block");
  }
}

}  // namespace
}  // namespace headwise::model
