#pragma once

#include <headwise/model/big_bird.hpp>
#include <headwise/model/longformer.hpp>

#include <string>

/// The loaders of published models with sparse patterns for double, compiled once each: what a loader's own
/// header includes costs a test several seconds.
namespace headwise::published {

model::Longformer<double> load_longformer(const std::string& folder);
model::BigBird<double> load_big_bird(const std::string& folder);

}  // namespace headwise::published
