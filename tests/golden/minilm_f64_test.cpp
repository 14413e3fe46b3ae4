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
