#include <headwise/io/gpt2.hpp>

#include <gtest/gtest.h>

#include "golden/decoder_case.hpp"

namespace headwise {
namespace {

TEST(Gpt2Golden, StatesLogitsAndGreedyTextAgreeInDouble) {
  for (const golden::Case& each : golden::cases("gpt2")) {
    SCOPED_TRACE(each.name());
    golden::check_decoder(io::load_gpt2<double>(golden::model_folder(each)), each);
  }
}

}  // namespace
}  // namespace headwise
