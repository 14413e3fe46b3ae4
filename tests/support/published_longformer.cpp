#include <headwise/io/longformer.hpp>

#include "support/published_patterns.hpp"

namespace headwise::published {

model::Longformer<double> load_longformer(const std::string& folder) {
  return io::load_longformer_masked_lm<double>(folder);
}

}  // namespace headwise::published
