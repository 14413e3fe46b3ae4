#include <headwise/io/bloom.hpp>

#include <gtest/gtest.h>

#include "golden/decoder_case.hpp"

namespace headwise {
namespace {

TEST(BloomGolden, StatesLogitsAndGreedyTextAgree) {
  for (const golden::Case& each : golden::cases("bloom")) {
    SCOPED_TRACE(each.name());
    golden::check_decoder(io::load_bloom<float>(golden::model_folder(each)), each);
  }
}

}  // namespace
}  // namespace headwise
