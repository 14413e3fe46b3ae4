#include <headwise/io/llama.hpp>

#include "support/published.hpp"

namespace headwise::published {

template <class Scalar>
model::Decoder<Scalar> load_llama(const std::string& folder) {
  return io::load_llama<Scalar>(folder);
}

template model::Decoder<float> load_llama(const std::string&);
template model::Decoder<double> load_llama(const std::string&);

}  // namespace headwise::published
