#include <headwise/io/gpt_neox.hpp>

#include "support/published.hpp"

namespace headwise::published {

template <class Scalar>
model::Decoder<Scalar> load_gpt_neox(const std::string& folder) {
  return io::load_gpt_neox<Scalar>(folder);
}

template model::Decoder<float> load_gpt_neox(const std::string&);
template model::Decoder<double> load_gpt_neox(const std::string&);

}  // namespace headwise::published
