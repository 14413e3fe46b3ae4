#include <headwise/io/json_text.hpp>
#include <headwise/io/wordpiece.hpp>

#include <gtest/gtest.h>

#include "support/golden.hpp"

#include <cstdlib>
#include <filesystem>

namespace headwise::io {
namespace {

/// all-MiniLM-L6-v2's own vocabulary on real sentences; the ids are those of its published tokenizer.
TEST(MinilmTokens, EqualThoseOfThePublishedTokenizer) {
  const char* const model = std::getenv("HEADWISE_MODEL_DIR");
  if (model == nullptr) {
    GTEST_SKIP() << "token ids of the real model are not checked: HEADWISE_MODEL_DIR, the folder of its "
                    "vocab.txt, is not set";
  }
  const std::filesystem::path folder = golden::folder() / "minilm";
  if (!std::filesystem::exists(folder / "minilm_sentences.json")) {
    GTEST_SKIP() << "token ids of the real model are not checked: " << folder.string()
                 << " has no minilm_sentences.json";
  }
  const MappedFile text((folder / "minilm_sentences.json").string());
  const auto sentences = parse_json(text.text(), 0, text.path(), [](const JsonEvent&) { return true; });
  const auto tensors = golden::read_safetensors(folder / "minilm_sentences.safetensors");
  const golden::Tensor &ids = tensors.at("in.input_ids"), &mask = tensors.at("in.attention_mask");
  ASSERT_EQ(ids.dim(0), Index(sentences.size()));
  ASSERT_GT(ids.dim(0), 0);

  const WordPiece tokenizer = WordPiece::load((std::filesystem::path(model) / "vocab.txt").string());
  for (Index i = 0; i < ids.dim(0); ++i) {
    const auto sentence = sentences[std::size_t(i)].get<std::string>();
    std::vector<TokenId> expected;
    for (Index j = 0; j < ids.dim(1); ++j)
      if (mask.at(i, j) != 0) expected.push_back(TokenId(ids.at(i, j)));
    EXPECT_EQ(tokenizer.encode(sentence, ids.dim(1)).ids, expected) << sentence;
  }
}

}  // namespace
}  // namespace headwise::io
