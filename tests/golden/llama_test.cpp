#include <headwise/io/llama.hpp>

#include <gtest/gtest.h>

#include "golden/decoder_case.hpp"

namespace headwise {
namespace {

TEST(LlamaGolden, StatesLogitsAndGreedyTextAgree) {
  for (const golden::Case& each : golden::cases("llama")) {
    SCOPED_TRACE(each.name());
    golden::check_decoder(io::load_llama<float>(golden::model_folder(each)), each);
  }
}

}  // namespace
}  // namespace headwise
