// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <gtest/gtest.h>

#include "io/model_copy.hpp"
#include "support/golden.hpp"
#include "support/published_patterns.hpp"
#include "support/thrown.hpp"

#include <filesystem>
#include <string>

namespace headwise::io {
namespace {

TEST(LongformerLoader, RefusesWindowsThatDoNotFit) {
  const auto tiny = golden::folder() / "models" / "longformer_tiny";
  if (!std::filesystem::exists(tiny)) GTEST_SKIP() << "no golden files: " << tiny << " is missing";
  const auto refusal = [](const check::ModelCopy& folder) {
    std::string text = check::thrown<FormatError>([&] { (void)published::load_longformer(folder.path()); });
    return text.starts_with(folder.path()) ? text.substr(folder.path().size()) : text;
  };
  const check::ModelCopy odd(tiny, "longformer_loader_odd");
  odd.edit_config("\"attention_window\": [\n  4,", "\"attention_window\": [\n  5,");
  EXPECT_EQ(refusal(odd), "/config.json: attention_window: is 5, expected a positive even number");
  const check::ModelCopy many(tiny, "longformer_loader_many");
  many.edit_config("\"attention_window\": [\n  4,", "\"attention_window\": [\n  4,\n  4,");
  EXPECT_EQ(refusal(many),
            "/config.json: attention_window: is 3 numbers, expected 2, one for each of num_hidden_layers");
  const check::ModelCopy untied(tiny, "longformer_loader_untied");
  untied.edit_config("\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
  EXPECT_EQ(refusal(untied), "/config.json: tie_word_embeddings: is false, expected true");
}

}  // namespace
}  // namespace headwise::io
