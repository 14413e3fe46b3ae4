// A vocabulary and a text, both any bytes: the first line says how the rest is divided. Byte pairs must give
// back every byte; WordPiece must end.
#include <headwise/io/byte_pair.hpp>
#include <headwise/io/wordpiece.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace headwise;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Every byte, then the lines; a line with a space is a merge, one that begins with '<' is special.
void try_byte_pair(const std::vector<std::string>& lines, std::string_view text) {
  std::vector<std::string> tokens;
  for (const auto character : io::detail::byte_characters()) {
    tokens.emplace_back();
    io::detail::append_utf8(tokens.back(), character);
  }
  io::BytePairVocabulary vocabulary;
  for (const std::string& line : lines)
    if (line.find(' ') == line.npos) tokens.push_back(line);
  for (std::size_t i = 256; i < tokens.size(); ++i)
    if (tokens[i].starts_with('<')) vocabulary.specials.push_back(TokenId(i));
  vocabulary.tokens = {tokens.begin(), tokens.end()};
  for (const std::string& line : lines)
    if (line.find(' ') != line.npos) vocabulary.merges.push_back(line);
  for (const io::PieceRules rules : {io::PieceRules::gpt2, io::PieceRules::smollm}) {
    vocabulary.rules = rules;
    const io::BytePair tokenizer(vocabulary, "fuzz");
    if (tokenizer.decode(tokenizer.encode(text)) != text) std::abort();
    if (tokenizer.decode(tokenizer.encode(text, io::SpelledSpecials::text)) != text) std::abort();
  }
}

void try_wordpiece(const std::vector<std::string>& lines, std::string_view text) {
  std::vector<std::string> tokens{"[UNK]", "[CLS]", "[SEP]"};
  tokens.insert(tokens.end(), lines.begin(), lines.end());
  const io::WordPiece tokenizer(std::move(tokens));
  (void)tokenizer.decode(tokenizer.encode_pair(text, text, 64).ids);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(static_cast<const char*>(static_cast<const void*>(data)), size);
  const std::size_t border = std::min(all.find('\0'), all.size());
  const std::vector<std::string> lines = lines_of(all.substr(0, border));
  const std::string_view text = all.substr(std::min(border + 1, all.size()));
  try {
    try_byte_pair(lines, text);
  } catch (const FormatError&) {
    // a merge of tokens that are none
  }
  try_wordpiece(lines, text);
  return 0;
}
