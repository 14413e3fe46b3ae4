#include <headwise/io/t5.hpp>

#include "support/published.hpp"

namespace headwise::published {

template <class Scalar>
T5<Scalar> load_t5(const std::string& folder) {
  return io::load_t5<Scalar>(folder);
}

template T5<float> load_t5(const std::string&);
template T5<double> load_t5(const std::string&);

}  // namespace headwise::published
