// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/mask/key_padding.hpp>
#include <headwise/model/sentence_encoder.hpp>

#include <gtest/gtest.h>

#include "layer/parameters.hpp"
#include "layer/plain_layers.hpp"
#include "support/check.hpp"
#include "support/thrown.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headwise::model::encoder_test {
namespace {

namespace hw = headwise;

using check::near;
using check::thrown;

using Ids = std::vector<TokenId>;

EncoderOptions small() {
  return {
      .vocab_size = 11, .kinds = 2, .d_model = 8, .layers = 2, .heads = 2, .d_ff = 12, .max_positions = 9};
}

template <class Model>
Model randomised(Model model) {
  check::randomise(model, 3);
  return model;
}

Matrix<double> plain_states(const Ids& ids, const Ids& kinds, const plain::Numbers& p) {
  Matrix<double> x(Index(ids.size()), 8);
  for (Index i = 0; i < x.rows(); ++i) {
    x.row(i) = p.at("embedding.tokens.weight").row(ids[std::size_t(i)]) +
               p.at("embedding.positions.table").row(i) +
               p.at("embedding.kinds.weight").row(kinds[std::size_t(i)]);
  }
  x = plain::norm(x, p, "embedding.norm", 1e-12);
  for (const std::string block : {"layers.0.", "layers.1."}) {
    x = plain::norm(x + plain::attention(x, x, p, block + "attention", 2), p, block + "attention_norm",
                    1e-12);
    x = plain::norm(x + plain::feed_forward(x, p, block + "feed_forward", plain::gelu), p,
                    block + "feed_forward_norm", 1e-12);
  }
  return x;
}

TEST(Encoder, IsItsLayersOneAfterAnother) {
  const auto encoder = randomised(Encoder<double>(small(), layer::Initial::zeros()));
  const auto p = check::parameters_of(encoder);
  const Ids ids{3, 10, 0, 3, 7}, kinds{0, 0, 1, 1, 1}, zeros(5, 0);
  EXPECT_TRUE(near(encoder.states(ids, kinds), plain_states(ids, kinds, p), 1e-11));
  EXPECT_TRUE(near(encoder(ids), plain_states(ids, zeros, p), 1e-11));
}

TEST(Encoder, ReadsRaggedBatchesAndPaddedOnesAlike) {
  Rng rng(1);
  // [docs model/encoder]
  const hw::model::Encoder<double> encoder({.vocab_size = 50, .d_model = 16, .layers = 2, .heads = 2}, rng);
  const std::vector<hw::TokenId> ids = {5, 6, 7, 8, 9};  // two texts, of 3 and 2 tokens
  const hw::Matrix<double> ragged = encoder(ids, {.query_rows = hw::RaggedRows::from_lengths({3, 2})});

  const std::vector<hw::TokenId> padded = {5, 6, 7, 8, 9, 0};
  const hw::mask::KeyPadding real(std::vector<bool>{true, true, true, true, true, false});
  const hw::Matrix<double> same = encoder(padded, {.query_rows = hw::RaggedRows::uniform(2, 3)}, real);
  // [docs end]
  EXPECT_TRUE(near(same.topRows(5), ragged, 1e-13));
  EXPECT_TRUE(near(ragged.bottomRows(2), encoder(Ids{8, 9}), 1e-13));
}

TEST(MaskedLanguageModel, ScoresTokensByTheEmbedding) {
  const auto model = randomised(MaskedLanguageModel<double>(small(), layer::Initial::zeros()));
  const auto p = check::parameters_of(model);
  const Ids ids{3, 10, 0};
  Matrix<double> expected = plain::each(plain::linear(model.encoder(ids), p, "head.transform"), plain::gelu);
  expected = plain::norm(expected, p, "head.norm", 1e-12);
  expected = reference::product(expected, p.at("encoder.embedding.tokens.weight").transpose());
  expected.rowwise() += p.at("head.bias").row(0);
  EXPECT_TRUE(near(model(ids), expected, 1e-11));
}

/// A letter is a token.
struct Letters {
  struct Encoding {
    Ids ids;
  };
  Encoding encode(std::string_view text, Index max_tokens) const {
    Encoding result;
    for (char c : text.substr(0, std::size_t(max_tokens))) result.ids.push_back(c - 'a');
    return result;
  }
};

TEST(SentenceEncoder, IsTheMeanOfATextsStatesAtLengthOne) {
  const auto encoder = randomised(Encoder<double>(small(), layer::Initial::zeros()));
  const std::vector<std::string> texts{"abc", "", "de", "fghijkabc", "a", "cba"};
  for (Index batch_tokens : {1, 4, 1000}) {
    const SentenceEncoder<Letters, double> sentences(Letters{}, encoder,
                                                     {.max_tokens = 8, .batch_tokens = batch_tokens});
    const Matrix<double> embeddings = sentences(texts);
    ASSERT_EQ(embeddings.rows(), 6);
    for (Index i = 0; i < 6; ++i) {
      const Ids ids = Letters{}.encode(texts[std::size_t(i)], 8).ids;
      Matrix<double> mean = Matrix<double>::Zero(1, 8);
      for (Index row = 0; row < Index(ids.size()); ++row) mean += encoder(ids).row(row) / double(ids.size());
      if (!ids.empty()) mean /= mean.norm();
      EXPECT_TRUE(near(embeddings.row(i), mean, 1e-12)) << texts[std::size_t(i)];
    }
  }
}

TEST(SentenceEncoder, RefusesABatchOfNothing) {
  const Encoder<double> encoder(small(), layer::Initial::zeros());
  EXPECT_EQ(
      thrown<ShapeError>([&] { SentenceEncoder<Letters, double>(Letters{}, encoder, {.batch_tokens = 0}); }),
      "SentenceEncoder: batch_tokens is 0, expected a positive number");
}

}  // namespace
}  // namespace headwise::model::encoder_test
