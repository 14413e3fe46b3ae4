#include "support/published_reformer.hpp"

#include <headwise/io/reformer.hpp>

namespace headwise::published {

model::Reformer<double> load_reformer(const std::string& folder) { return io::load_reformer<double>(folder); }

}  // namespace headwise::published
