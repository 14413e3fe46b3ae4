#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utf8proc.h>
#include <vector>

namespace headwise::io {

/// How a text is cut into the pieces that are merged one by one.
enum class PieceRules {
  gpt2,   ///< 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
  smollm  ///< first every character of category N alone, then the rest by GPT-2's rules
};

namespace detail {

enum class CharacterClass { letter, number, space, other };

/// A character of a text: its class, and where it ends.
struct Character {
  CharacterClass kind = CharacterClass::other;
  std::size_t end = 0;
};

/// Unicode's White_Space.
constexpr bool is_white_space(utf8proc_int32_t c) noexcept {
  return (9 <= c && c <= 13) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (0x2000 <= c && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

inline CharacterClass class_of(utf8proc_int32_t c) noexcept {
  if (is_white_space(c)) return CharacterClass::space;
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return CharacterClass::letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return CharacterClass::number;
    default:
      return CharacterClass::other;
  }
}

/// A byte that is no part of valid UTF-8 counts as a character of class other.
inline std::vector<Character> characters_of(std::string_view text) {
  std::vector<Character> result;
  result.reserve(text.size());
  const auto* const data = static_cast<const utf8proc_uint8_t*>(static_cast<const void*>(text.data()));
  for (std::size_t at = 0; at < text.size();) {
    utf8proc_int32_t point = 0;
    const utf8proc_ssize_t length = utf8proc_iterate(data + at, utf8proc_ssize_t(text.size() - at), &point);
    at += length > 0 ? std::size_t(length) : 1;
    result.push_back({length > 0 ? class_of(point) : CharacterClass::other, at});
  }
  return result;
}

/// Bytes of the contraction that a text begins with, or 0.
inline std::size_t contraction(std::string_view text) noexcept {
  constexpr std::array<std::string_view, 7> known{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
  for (const std::string_view each : known)
    if (text.starts_with(each)) return each.size();
  return 0;
}

/// The end, as an index of characters, of the piece that begins at character `i`, by GPT-2's pattern.
inline std::size_t piece_end(std::string_view text, const std::vector<Character>& characters, std::size_t i) {
  const std::size_t begin = i == 0 ? 0 : characters[i - 1].end, count = characters.size();
  if (const std::size_t length = contraction(text.substr(begin))) return i + length;  // ASCII
  const auto run = [&](std::size_t from) {
    std::size_t to = from;
    while (to < count && characters[to].kind == characters[from].kind) ++to;
    return to;
  };
  if (characters[i].kind != CharacterClass::space) return run(i);
  const bool one_space = text[begin] == ' ';
  if (one_space && i + 1 < count && characters[i + 1].kind != CharacterClass::space) return run(i + 1);
  // Of several spaces the last is left to what follows, unless nothing does.
  const std::size_t end = run(i);
  return end == count || end == i + 1 ? end : end - 1;
}

}  // namespace detail

/// The pieces of a text, in order: together they are the text, byte by byte. Cost: O(length).
/// Paper: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019, section 2.2; the
/// pattern is that of its code.
inline std::vector<std::string_view> byte_pair_pieces(std::string_view text, PieceRules rules) {
  std::vector<std::string_view> pieces;
  const auto cut = [&pieces](std::string_view part) {
    const std::vector<detail::Character> characters = detail::characters_of(part);
    for (std::size_t i = 0, begin = 0; i < characters.size();) {
      i = detail::piece_end(part, characters, i);
      pieces.push_back(part.substr(begin, characters[i - 1].end - begin));
      begin = characters[i - 1].end;
    }
  };
  if (rules == PieceRules::gpt2) {
    cut(text);
    return pieces;
  }
  std::size_t begin = 0, at = 0;
  for (const detail::Character& character : detail::characters_of(text)) {
    if (character.kind == detail::CharacterClass::number) {
      cut(text.substr(begin, at - begin));
      pieces.push_back(text.substr(at, character.end - at));
      begin = character.end;
    }
    at = character.end;
  }
  cut(text.substr(begin));
  return pieces;
}

}  // namespace headwise::io
