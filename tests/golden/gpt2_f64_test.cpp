// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <gtest/gtest.h>

#include "golden/decoder_case.hpp"
#include "support/published.hpp"

namespace headwise {
namespace {

TEST(Gpt2Golden, StatesAndLogitsAgreeInDouble) {
  for (const golden::Case& each : golden::cases("gpt2")) {
    SCOPED_TRACE(each.name());
    golden::check_states(published::load_gpt2<double>(golden::model_folder(each)), each);
  }
}

}  // namespace
}  // namespace headwise
