#pragma once

#include <headwise/model/reformer.hpp>

#include <string>

/// The loader of published Reformers for double, compiled once: what its header includes costs a test several
/// seconds.
namespace headwise::published {

model::Reformer<double> load_reformer(const std::string& folder);

}  // namespace headwise::published
