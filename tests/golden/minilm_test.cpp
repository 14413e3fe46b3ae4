#include <gtest/gtest.h>

#include "golden/minilm_case.hpp"

namespace headwise {
namespace {

TEST(MinilmGolden, HiddenStatesAndEmbeddingsAgree) {
  for (const golden::Case& each : golden::cases("minilm")) {
    SCOPED_TRACE(each.name());
    golden::check_minilm<float>(each);
  }
}

}  // namespace
}  // namespace headwise
