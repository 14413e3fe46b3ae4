#include <headwise/io/gpt_neox.hpp>

#include <gtest/gtest.h>

#include "golden/decoder_case.hpp"

namespace headwise {
namespace {

TEST(GptNeoxGolden, StatesLogitsAndGreedyTextAgreeInDouble) {
  for (const golden::Case& each : golden::cases("gpt_neox")) {
    SCOPED_TRACE(each.name());
    golden::check_decoder(io::load_gpt_neox<double>(golden::model_folder(each)), each);
  }
}

}  // namespace
}  // namespace headwise
