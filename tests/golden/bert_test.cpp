#include <gtest/gtest.h>

#include "golden/bert_case.hpp"

namespace headwise {
namespace {

TEST(BertGolden, HiddenStatesAndLogitsAgree) {
  for (const golden::Case& each : golden::cases("bert")) {
    SCOPED_TRACE(each.name());
    golden::check_bert<float>(each);
  }
}

}  // namespace
}  // namespace headwise
