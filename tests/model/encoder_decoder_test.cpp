// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/model/encoder_decoder.hpp>

#include <gtest/gtest.h>

#include "layer/parameters.hpp"
#include "support/check.hpp"
#include "support/thrown.hpp"

#include <cmath>
#include <utility>
#include <vector>

namespace headwise::model::encoder_decoder_test {
namespace {

namespace hw = headwise;

using check::near;
using check::random;
using check::thrown;

using Ids = std::vector<TokenId>;

EncoderDecoder<double> made(EncoderDecoderOptions options) {
  EncoderDecoder<double> model(options, layer::Initial::zeros());
  check::randomise(model, 3);
  return model;
}

EncoderDecoderOptions small() {
  return {.vocab_size = 11,
          .d_model = 8,
          .heads = 2,
          .encoder_layers = 2,
          .decoder_layers = 2,
          .d_ff = 12,
          .positions = layer::InputPositions::sinusoidal,
          .embedding_scale = std::sqrt(8.0)};
}

TEST(EncoderDecoder, DecodesTokenByTokenWhatOneCallDecodes) {
  Rng rng(1);
  // [docs model/encoder_decoder]
  const hw::model::EncoderDecoder<double> transformer({.vocab_size = 60,
                                                       .d_model = 16,
                                                       .heads = 2,
                                                       .encoder_layers = 2,
                                                       .decoder_layers = 2,
                                                       .d_ff = 32,
                                                       .positions = hw::layer::InputPositions::sinusoidal,
                                                       .embedding_scale = 4},
                                                      rng);
  const std::vector<hw::TokenId> source = {5, 6, 7, 8}, target = {1, 2, 3};
  const hw::Matrix<double> memory = transformer.encode(source);
  const hw::Matrix<double> logits = transformer.logits(transformer.decode(target, memory));  // [3, 60]
  // [docs end]
  auto decoding = transformer.begun(memory);
  for (Index t = 0; t < 3; ++t) {
    auto [state, longer] = transformer.step(Ids{target[std::size_t(t)]}, std::move(decoding));
    decoding = std::move(longer);
    EXPECT_TRUE(near(transformer.logits(state), logits.row(t), 1e-12));
  }
}

TEST(EncoderDecoder, KeepsTheTextsOfABatchApart) {
  const auto model = made(small());
  const RaggedRows sources = RaggedRows::from_lengths({3, 2});
  const Matrix<double> memory = model.encode(Ids{1, 2, 3, 4, 5}, {.query_rows = sources});
  const Matrix<double> states = model.decode(
      Ids{6, 7, 8, 9}, memory, {.query_rows = RaggedRows::from_lengths({1, 3}), .key_rows = sources});
  EXPECT_TRUE(near(states.topRows(1), model.decode(Ids{6}, model.encode(Ids{1, 2, 3})), 1e-12));
  EXPECT_TRUE(near(states.bottomRows(3), model.decode(Ids{7, 8, 9}, model.encode(Ids{4, 5})), 1e-12));
}

TEST(EncoderDecoder, HidesTheFutureOfTheTargetOnly) {
  const auto model = made(small());
  const Matrix<double> memory = model.encode(Ids{1, 2, 3});
  const Matrix<double> states = model.decode(Ids{6, 7, 8}, memory),
                       changed = model.decode(Ids{6, 7, 9}, memory);
  EXPECT_TRUE(near(states.topRows(2), changed.topRows(2), 0));
  EXPECT_FALSE(near(model.encode(Ids{1, 2, 3}).topRows(1), model.encode(Ids{1, 2, 4}).topRows(1), 1e-3));
}

TEST(EncoderDecoder, ReadsRowsWhereThereAreNoTokens) {
  EncoderDecoderOptions options = small();
  options.vocab_size = 0;
  const auto model = made(options);
  const auto source = random(4, 8, 1), target = random(3, 8, 2);
  const Matrix<double> states = model.decode(target, model.encode(source));
  EXPECT_EQ(states.rows(), 3);
  EXPECT_EQ(thrown<ShapeError>([&] { (void)model.logits(states); }),
            "EncoderDecoder: vocab_size is 0, expected a positive number to read or score token ids");
}

TEST(EncoderDecoder, ScalesTheStatesBeforeItsHead) {
  EncoderDecoderOptions options = small();
  const auto plain = made(options);
  options.head_scale = 0.25;
  const auto scaled = made(options);
  const auto states = random(2, 8, 1);
  EXPECT_TRUE(near(scaled.logits(states), plain.logits(states) / 4, 1e-14));
}

}  // namespace
}  // namespace headwise::model::encoder_decoder_test
