#pragma once

#include <headwise/core/parameter.hpp>
#include <headwise/layer/rolling.hpp>
#include <headwise/model/decoder.hpp>
#include <headwise/model/encoder.hpp>
#include <headwise/model/encoder_decoder.hpp>
#include <headwise/model/sentence_encoder.hpp>
#include <headwise/score/alibi.hpp>
#include <headwise/score/t5_bias.hpp>
#include <headwise/stored/weight.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headwise::io {
class WordPiece;
class Gguf;
}  // namespace headwise::io

/// The loaders of published models for float and double, compiled once: what a loader's own header includes
/// costs a test several seconds.
namespace headwise::published {

template <class Scalar>
using T5 = model::EncoderDecoder<Scalar, score::T5Bias<Parameter<Scalar>>>;

template <class Scalar>
model::MaskedLanguageModel<Scalar> load_bert_masked_lm(const std::string& folder);
template <class Scalar>
model::SentenceEncoder<io::WordPiece, Scalar> load_sentence_encoder(const std::string& folder);
template <class Scalar>
model::Decoder<Scalar> load_gpt2(const std::string& folder);
template <class Scalar>
model::Decoder<Scalar> load_llama(const std::string& folder);
template <class Scalar>
model::Decoder<Scalar> load_gpt_neox(const std::string& folder);
template <class Scalar>
model::Decoder<Scalar, score::Alibi<>> load_bloom(const std::string& folder);
template <class Scalar>
model::Decoder<Scalar> load_llama_gguf(const io::Gguf& file);
template <class Scalar>
model::Decoder<Scalar> load_llama_gguf(const std::string& file);
using StoredDecoder = model::Decoder<float, score::None, stored::Weight>;
StoredDecoder load_stored_llama(const io::Gguf& file, std::optional<stored::Format> format = {});
StoredDecoder load_stored_llama(const std::string& file, std::optional<stored::Format> format = {});
/// model::negative_log_likelihood under the mask of `attention`.
std::vector<double> likelihood(const StoredDecoder& decoder, std::span<const TokenId> ids,
                               const layer::Rolling& attention);
template <class Scalar>
T5<Scalar> load_t5(const std::string& folder);
template <class Scalar>
model::EncoderDecoder<Scalar> load_torch_transformer(const std::string& folder);

}  // namespace headwise::published
