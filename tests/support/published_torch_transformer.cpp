#include <headwise/io/torch_transformer.hpp>

#include "support/published.hpp"

namespace headwise::published {

template <class Scalar>
model::EncoderDecoder<Scalar> load_torch_transformer(const std::string& folder) {
  return io::load_torch_transformer<Scalar>(folder);
}

template model::EncoderDecoder<float> load_torch_transformer(const std::string&);
template model::EncoderDecoder<double> load_torch_transformer(const std::string&);

}  // namespace headwise::published
