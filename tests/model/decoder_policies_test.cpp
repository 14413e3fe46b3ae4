// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/mask/sliding_window.hpp>
#include <headwise/model/generate.hpp>
#include <headwise/score/alibi.hpp>

#include <gtest/gtest.h>

#include "layer/parameters.hpp"
#include "support/check.hpp"

#include <string>
#include <utility>
#include <vector>

namespace headwise::model {
namespace {

using check::near;

using Ids = std::vector<TokenId>;

DecoderOptions small() {
  return {.vocab_size = 11, .d_model = 8, .layers = 1, .heads = 2, .d_ff = 12, .embedding_norm = true};
}

TEST(DecoderPolicies, AnotherMaskIsTriedInATrainedModel) {
  Decoder<double> decoder(small(), layer::Initial::zeros());
  check::randomise(decoder, 3);
  // Behind one layer and a window of 2, a token's logits depend on itself and the token before it only.
  const mask::SlidingWindow window{.width = 2};
  const Matrix<double> all = decoder(Ids{1, 2, 3, 4}, {}, window), last = decoder(Ids{3, 4}, {}, window);
  EXPECT_TRUE(near(all.bottomRows(1), last.bottomRows(1), 1e-13));
  EXPECT_FALSE(near(decoder(Ids{1, 2, 3, 4}).bottomRows(1), last.bottomRows(1), 1e-3));
}

TEST(DecoderPolicies, AScoreOfItsOwnActsInEveryCall) {
  Decoder<double, score::Alibi<>> alibi(small(), layer::Initial::zeros(), score::Alibi(2));
  Decoder<double> plain(small(), layer::Initial::zeros());
  check::randomise(alibi, 3);
  check::randomise(plain, 3);
  const Ids ids{1, 2, 3, 4};
  EXPECT_TRUE(near(alibi(ids), plain(ids, {}, mask::Causal{}, score::Alibi(2)), 1e-14));
  EXPECT_FALSE(near(alibi(ids), plain(ids), 1e-3));
}

TEST(DecoderPolicies, ALearnedScoreIsAmongTheParameters) {
  using Learned = score::Alibi<Parameter<double>>;
  Decoder<double, Learned> decoder(small(), layer::Initial::zeros(),
                                   Learned(Parameter<double>{score::alibi_slopes(2)}));
  const auto parameters = check::parameters_of(decoder);
  ASSERT_TRUE(parameters.contains("score.0"));
  EXPECT_EQ(parameters.at("score.0"), score::alibi_slopes(2));
  decoder.for_each_parameter([](std::string_view name, auto& parameter) {
    if (name == "score.0") parameter.value.setConstant(0.75);
  });
  decoder.score().for_each_operand([](const auto& slopes) { EXPECT_EQ(slopes.value(1, 0), 0.75); });
}

TEST(Generate, TakesTheLargestLogitTokenAfterToken) {
  Decoder<double> decoder(small(), layer::Initial::zeros());
  check::randomise(decoder, 8);
  const std::vector<std::vector<TokenId>> prompts{{1, 2, 3}, {4}, {5, 6, 7, 8, 9}};
  const auto texts = generate_greedy(decoder, prompts, {.new_tokens = 6});
  ASSERT_EQ(texts.size(), 3u);
  for (std::size_t s = 0; s < prompts.size(); ++s) {
    Ids text = prompts[s];
    for (TokenId chosen : texts[s]) {
      const Matrix<double> logits = decoder(text).bottomRows(1);
      EXPECT_EQ(logits(0, chosen), logits.maxCoeff());
      text.push_back(chosen);
    }
    EXPECT_EQ(text.size(), prompts[s].size() + 6);
  }
}

TEST(Generate, TheLowestOfEqualsWins) {
  Matrix<double> x(2, 4);
  x << 1, 3, 3, 2, 0, 0, 0, 0;
  EXPECT_EQ(largest_columns(x), (std::vector<TokenId>{1, 0}));
}

TEST(Generate, ATextEndsAtItsStopToken) {
  Decoder<double> decoder(small(), layer::Initial::zeros());
  check::randomise(decoder, 8);
  const std::vector<std::vector<TokenId>> prompts{{1, 2, 3}, {4}};
  const auto free = generate_greedy(decoder, prompts, {.new_tokens = 6});
  const TokenId stop = free[0][1];
  const auto stopped = generate_greedy(decoder, prompts, {.new_tokens = 6, .stop = stop});
  for (std::size_t s = 0; s < 2; ++s) {
    Ids expected = free[s];
    const auto at = std::find(expected.begin(), expected.end(), stop);
    if (at != expected.end()) expected.erase(at + 1, expected.end());
    EXPECT_EQ(stopped[s], expected);
  }
}

TEST(Generate, AsksForAPrompt) {
  const Decoder<double> decoder(small(), layer::Initial::zeros());
  try {
    (void)generate_greedy(decoder, std::vector<std::vector<TokenId>>{{1}, {}});
    FAIL() << "accepted an empty prompt";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(
        error.what(),
        "generate_greedy: length of prompt 1 is 0, expected a positive number; begin with the model's start "
        "token if there is nothing else");
  }
}

}  // namespace
}  // namespace headwise::model
