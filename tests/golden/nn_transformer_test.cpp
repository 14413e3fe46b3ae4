// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <gtest/gtest.h>

#include "golden/nn_transformer_case.hpp"

namespace headwise {
namespace {

TEST(NnTransformerGolden, LayersAndOutputAgree) {
  for (const golden::Case& each : golden::cases("nn_transformer")) {
    SCOPED_TRACE(each.name());
    golden::check_nn_transformer<float>(each);
  }
}

}  // namespace
}  // namespace headwise
