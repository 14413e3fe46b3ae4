#include <headwise/io/big_bird.hpp>

#include "support/published_patterns.hpp"

namespace headwise::published {

model::BigBird<double> load_big_bird(const std::string& folder) {
  return io::load_big_bird_masked_lm<double>(folder);
}

}  // namespace headwise::published
