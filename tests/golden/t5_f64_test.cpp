// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <gtest/gtest.h>

#include "golden/t5_case.hpp"

namespace headwise {
namespace {

TEST(T5Golden, StatesAndLogitsAgreeInDouble) {
  for (const golden::Case& each : golden::cases("t5")) {
    SCOPED_TRACE(each.name());
    golden::check_t5<double>(each);
  }
}

}  // namespace
}  // namespace headwise
