#include <headwise/io/bloom.hpp>

#include "support/published.hpp"

namespace headwise::published {

template <class Scalar>
model::Decoder<Scalar, score::Alibi<>> load_bloom(const std::string& folder) {
  return io::load_bloom<Scalar>(folder);
}

template model::Decoder<float, score::Alibi<>> load_bloom(const std::string&);
template model::Decoder<double, score::Alibi<>> load_bloom(const std::string&);

}  // namespace headwise::published
