// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <gtest/gtest.h>

#include "golden/minilm_case.hpp"

namespace headwise {
namespace {

TEST(MinilmGolden, HiddenStatesAndEmbeddingsAgreeInDouble) {
  for (const golden::Case& each : golden::cases("minilm")) {
    SCOPED_TRACE(each.name());
    golden::check_minilm<double>(each);
  }
}

}  // namespace
}  // namespace headwise
