// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/model/decoder.hpp>

#include <gtest/gtest.h>

#include "layer/parameters.hpp"
#include "layer/plain_layers.hpp"
#include "support/check.hpp"
#include "support/thrown.hpp"

#include <utility>
#include <vector>

namespace headwise::model::decoder_test {
namespace {

namespace hw = headwise;

using check::near;
using check::thrown;

using Ids = std::vector<TokenId>;

DecoderOptions small() {
  return {.vocab_size = 11,
          .d_model = 8,
          .layers = 2,
          .heads = 2,
          .d_ff = 12,
          .positions = layer::InputPositions::learned,
          .max_positions = 9};
}

Decoder<double> made(const DecoderOptions& options) {
  Decoder<double> decoder(options, layer::Initial::zeros());
  check::randomise(decoder, 3);
  return decoder;
}

/// Embedding, pre-norm blocks, final norm and head by plain loops.
Matrix<double> plain_logits(const Ids& ids, const plain::Numbers& p, Index layers, const std::string& head) {
  Matrix<double> x(Index(ids.size()), p.at("embedding.tokens.weight").cols());
  for (Index i = 0; i < x.rows(); ++i) {
    x.row(i) =
        p.at("embedding.tokens.weight").row(ids[std::size_t(i)]) + p.at("embedding.positions.table").row(i);
  }
  for (Index i = 0; i < layers; ++i) {
    const std::string block = "layers." + std::to_string(i) + ".";
    const Matrix<double> seen = plain::norm(x, p, block + "attention_norm", 1e-5);
    x += plain::attention(seen, seen, p, block + "attention", 2, plain::causal());
    x += plain::feed_forward(plain::norm(x, p, block + "feed_forward_norm", 1e-5), p, block + "feed_forward",
                             plain::gelu_tanh);
  }
  return plain::linear(plain::norm(x, p, "layers.norm", 1e-5), p, head);
}

TEST(Decoder, IsItsLayersOneAfterAnother) {
  const Ids ids{3, 10, 0, 3, 7};
  DecoderOptions options = small();
  const auto tied = made(options);
  EXPECT_TRUE(near(tied(ids), plain_logits(ids, check::parameters_of(tied), 2, "embedding.tokens"), 1e-11));
  options.tied_head = false;
  const auto untied = made(options);
  EXPECT_TRUE(near(untied(ids), plain_logits(ids, check::parameters_of(untied), 2, "head"), 1e-11));
}

TEST(Decoder, KeepsTheTextsOfABatchApart) {
  const auto decoder = made(small());
  const Matrix<double> logits =
      decoder(Ids{1, 2, 3, 4, 5, 6, 7}, {.query_rows = RaggedRows::from_lengths({3, 0, 4})});
  EXPECT_TRUE(near(logits.topRows(3), decoder(Ids{1, 2, 3}), 1e-13));
  EXPECT_TRUE(near(logits.bottomRows(4), decoder(Ids{4, 5, 6, 7}), 1e-13));
}

TEST(Decoder, GoesOnFromACache) {
  Rng rng(1);
  // [docs model/decoder]
  const hw::model::Decoder<double> decoder({.vocab_size = 100,
                                            .d_model = 32,
                                            .layers = 2,
                                            .heads = 4,
                                            .kv_heads = 2,
                                            .rotary = hw::position::Rotary({.head_dim = 8}),
                                            .norm = hw::layer::NormKind::rms,
                                            .activation = hw::layer::Activation::silu,
                                            .gated = true},
                                           rng);
  const std::vector<hw::TokenId> prompt = {7, 8, 9}, next = {10};
  auto [states, cache] = decoder.step(prompt, {});
  auto [state, longer] = decoder.step(next, std::move(cache));
  const hw::Matrix<double> logits = decoder.logits(state);  // [1, 100]
  // [docs end]
  EXPECT_TRUE(near(logits, decoder(Ids{7, 8, 9, 10}).bottomRows(1), 1e-13));
}

TEST(Decoder, GoesOnWithTextsOfDifferentLengths) {
  const auto decoder = made(small());
  auto [prompts, cache] = decoder.step(Ids{1, 2, 3, 4}, {}, {.query_rows = RaggedRows::from_lengths({1, 3})});
  auto [states, longer] =
      decoder.step(Ids{5, 6}, std::move(cache), {.query_rows = RaggedRows::from_lengths({1, 1})});
  const Matrix<double> logits = decoder.logits(states);
  EXPECT_TRUE(near(logits.row(0), decoder(Ids{1, 5}).bottomRows(1), 1e-13));
  EXPECT_TRUE(near(logits.row(1), decoder(Ids{2, 3, 4, 6}).bottomRows(1), 1e-13));
}

TEST(Decoder, NamesTheIdOrPositionThatIsNotThere) {
  const auto decoder = made(small());
  EXPECT_EQ(thrown<ShapeError>([&] {
              (void)decoder(Ids{1, 11});
            }),
            "embed: ids[1] is 11, expected a row of the table, 0 to 10");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)decoder(Ids(10, 1)); }).substr(0, 49),
            "add_positions: positions[9] is 9, expected 0 to 8");
  const auto full = decoder.step(Ids(9, 1), {});
  EXPECT_EQ(thrown<ShapeError>([&] { (void)decoder.step(Ids{1}, full.cache); }).substr(0, 49),
            "add_positions: positions[0] is 9, expected 0 to 8");
}

TEST(Decoder, AgreesInFloat) {
  const auto wide = made(small());
  Decoder<float> narrow(small(), layer::Initial::zeros());
  check::randomise(narrow, 3);
  const Ids ids{3, 10, 0, 3, 7};
  EXPECT_TRUE(near(narrow(ids), wide(ids), 1e-4, 1e-4));
}

}  // namespace
}  // namespace headwise::model::decoder_test
