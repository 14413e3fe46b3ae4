#pragma once

#include <headwise/core/executor.hpp>
#include <headwise/layer/ops.hpp>
#include <headwise/model/encoder.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headwise::model {

struct SentenceEncoderOptions {
  Index max_tokens = 256;     ///< a longer text is cut
  Index batch_tokens = 1024;  ///< texts are stacked up to about this many rows, so that products are large
  bool unit_length = true;    ///< embeddings of Euclidean length 1: their dot product is the cosine
};

/// What turns a text into token ids, cut to a number of them.
template <class T>
concept TextTokenizer = requires(const T& tokenizer, std::string_view text, Index max_tokens) {
  std::span<const TokenId>(tokenizer.encode(text, max_tokens).ids);
};

/// Sentence embeddings: the mean of an encoder's states over a text's tokens.
///
///     e = m / |m|,   m = mean of encoder(tokens(text))
///
/// Texts are stacked into ragged batches: no row is padding. A batch is one piece of work for the executor,
/// and texts are cut into batches the same way for any number of threads. Paper: Reimers and Gurevych,
/// "Sentence-BERT", 2019, section 3.
template <class Tokenizer, class Scalar_ = float>
class SentenceEncoder {
 public:
  using Scalar = Scalar_;

  /// Throws ShapeError when max_tokens or batch_tokens is not positive.
  SentenceEncoder(Tokenizer tokenizer, Encoder<Scalar> encoder, const SentenceEncoderOptions& options = {})
      : tokenizer_(std::move(tokenizer)), encoder_(std::move(encoder)), options_(options) {
    expect_positive("SentenceEncoder: max_tokens", options.max_tokens);
    expect_positive("SentenceEncoder: batch_tokens", options.batch_tokens);
  }

  /// texts [n] -> embeddings [n, d_model], in the order given.
  Matrix<Scalar> operator()(std::span<const std::string> texts, const Executor& executor = {}) const {
    std::vector<std::vector<TokenId>> tokens(texts.size());
    executor(Index(texts.size()),
             [&](Index i) { tokens[std::size_t(i)] = tokenized(texts[std::size_t(i)]); });
    return embedded(tokens, executor);
  }

  /// Token ids of n texts -> embeddings [n, d_model]; zeros for a text without tokens.
  Matrix<Scalar> embedded(std::span<const std::vector<TokenId>> texts, const Executor& executor = {}) const {
    const std::vector<Range> batches = batches_of(texts);
    Matrix<Scalar> result(Index(texts.size()), encoder_.options().d_model);
    executor(Index(batches.size()), [&](Index i) {
      const Range batch = batches[std::size_t(i)];
      result.middleRows(batch.begin, batch.size()) =
          batch_embedded(texts.subspan(std::size_t(batch.begin), std::size_t(batch.size())));
    });
    return result;
  }

  /// The ids that the encoder reads.
  std::vector<TokenId> tokenized(std::string_view text) const {
    return tokenizer_.encode(text, options_.max_tokens).ids;
  }

  const Encoder<Scalar>& encoder() const noexcept { return encoder_; }
  const Tokenizer& tokenizer() const noexcept { return tokenizer_; }
  const SentenceEncoderOptions& options() const noexcept { return options_; }

 private:
  std::vector<Range> batches_of(std::span<const std::vector<TokenId>> texts) const {
    std::vector<Range> batches;
    Index tokens = 0;
    for (Index i = 0; i < Index(texts.size()); ++i) {
      const Index length = Index(texts[std::size_t(i)].size());
      if (batches.empty() || tokens + length > options_.batch_tokens) {
        batches.push_back({i, i});
        tokens = 0;
      }
      tokens += length;
      batches.back().end = i + 1;
    }
    return batches;
  }

  Matrix<Scalar> batch_embedded(std::span<const std::vector<TokenId>> texts) const {
    std::vector<TokenId> ids;
    std::vector<Index> lengths;
    for (const auto& text : texts) {
      ids.insert(ids.end(), text.begin(), text.end());
      lengths.push_back(Index(text.size()));
    }
    const RaggedRows rows = RaggedRows::from_lengths(lengths);
    const Matrix<Scalar> mean = mean_rows(encoder_(ids, {.query_rows = rows}), rows);
    return options_.unit_length ? normalise_rows(mean) : mean;
  }

  Tokenizer tokenizer_;
  Encoder<Scalar> encoder_;
  SentenceEncoderOptions options_;
};

}  // namespace headwise::model
