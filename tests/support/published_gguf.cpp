#include <headwise/io/gguf_llama.hpp>
#include <headwise/model/likelihood.hpp>

#include "support/published.hpp"

namespace headwise::published {

template <class Scalar>
model::Decoder<Scalar> load_llama_gguf(const io::Gguf& file) {
  return io::load_llama<Scalar>(file);
}
template <class Scalar>
model::Decoder<Scalar> load_llama_gguf(const std::string& file) {
  return load_llama_gguf<Scalar>(io::Gguf(file));
}

template model::Decoder<float> load_llama_gguf(const io::Gguf&);
template model::Decoder<double> load_llama_gguf(const io::Gguf&);
template model::Decoder<float> load_llama_gguf(const std::string&);
template model::Decoder<double> load_llama_gguf(const std::string&);

StoredDecoder load_stored_llama(const io::Gguf& file, std::optional<stored::Format> format) {
  return io::load_stored_llama(file, format);
}
StoredDecoder load_stored_llama(const std::string& file, std::optional<stored::Format> format) {
  return io::load_stored_llama(io::Gguf(file), format);
}

std::vector<double> likelihood(const StoredDecoder& decoder, std::span<const TokenId> ids,
                               const layer::Rolling& attention) {
  return model::negative_log_likelihood(decoder, ids, {}, attention.mask());
}

}  // namespace headwise::published
