#pragma once

#include <headwise/io/byte_pair.hpp>
#include <headwise/io/gguf.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headwise::io {

/// The byte-pair tokenizer inside a GGUF file: tokenizer.ggml.model "gpt2", with the rules "gpt-2" or
/// "smollm" for its pieces. Tokens of type 3 (control) and 4 (user-defined) are cut out of a text where they
/// are written out. Throws FormatError for any other tokenizer, when tokens or merges are missing, and as
/// BytePair does.
inline BytePair load_byte_pair(const Gguf& file) {
  const auto expect_one_of = [&](const char* key, std::string_view got,
                                 std::initializer_list<std::string_view> known) {
    std::string listed;
    for (const std::string_view each : known) {
      if (got == each) return;
      listed.append(listed.empty() ? "" : " or ").append(in_quotes(each));
    }
    file.fail_metadata(key, in_quotes(got), listed);
  };
  expect_one_of("tokenizer.ggml.model", file.text("tokenizer.ggml.model"), {"gpt2"});
  const std::string_view rules = file.text("tokenizer.ggml.pre");
  expect_one_of("tokenizer.ggml.pre", rules, {"gpt-2", "smollm"});

  BytePairVocabulary vocabulary;
  vocabulary.tokens = file.texts("tokenizer.ggml.tokens");
  vocabulary.merges = file.texts("tokenizer.ggml.merges");
  vocabulary.rules = rules == "smollm" ? PieceRules::smollm : PieceRules::gpt2;
  const std::vector<Index> types = file.integers("tokenizer.ggml.token_type");
  if (types.size() != vocabulary.tokens.size()) {
    file.fail_metadata("tokenizer.ggml.token_type", "of " + std::to_string(types.size()) + " elements",
                       std::to_string(vocabulary.tokens.size()) + ", one a token");
  }
  constexpr Index control = 3, user_defined = 4;
  for (std::size_t i = 0; i < types.size(); ++i)
    if (types[i] == control || types[i] == user_defined) vocabulary.specials.push_back(TokenId(i));
  constexpr const char* unknown = "tokenizer.ggml.unknown_token_id";
  if (file.has(unknown)) {
    const Index id = file.integer(unknown);
    if (id < 0 || id >= Index(types.size()))
      file.fail_metadata(unknown, std::to_string(id),
                         "a token, 0 to " + std::to_string(Index(types.size()) - 1));
    vocabulary.unknown = TokenId(id);
  }
  return BytePair(vocabulary, file.file());
}

}  // namespace headwise::io
