// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

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
