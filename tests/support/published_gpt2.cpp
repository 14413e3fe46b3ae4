#include <headwise/io/gpt2.hpp>

#include "support/published.hpp"

namespace headwise::published {

template <class Scalar>
model::Decoder<Scalar> load_gpt2(const std::string& folder) {
  return io::load_gpt2<Scalar>(folder);
}

template model::Decoder<float> load_gpt2(const std::string&);
template model::Decoder<double> load_gpt2(const std::string&);

}  // namespace headwise::published
