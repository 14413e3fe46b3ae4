#include <gtest/gtest.h>

#include "golden/nn_transformer_case.hpp"

namespace headwise {
namespace {

TEST(NnTransformerGolden, LayersAndOutputAgreeInDouble) {
  for (const golden::Case& each : golden::cases("nn_transformer")) {
    SCOPED_TRACE(each.name());
    golden::check_nn_transformer<double>(each);
  }
}

}  // namespace
}  // namespace headwise
