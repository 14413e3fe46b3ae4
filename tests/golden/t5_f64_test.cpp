#include <gtest/gtest.h>

#include "golden/t5_case.hpp"

namespace headwise {
namespace {

TEST(T5Golden, StatesLogitsAndStepsAgreeInDouble) {
  for (const golden::Case& each : golden::cases("t5")) {
    SCOPED_TRACE(each.name());
    golden::check_t5<double>(each);
  }
}

}  // namespace
}  // namespace headwise
