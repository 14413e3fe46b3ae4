#pragma once

#include <headwise/core/error.hpp>
#include <headwise/io/byte_pair_text.hpp>
#include <headwise/io/mapped_file.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headwise::io {

/// What a byte-pair vocabulary is made of. Tokens and merges write every byte as one printable character, as
/// GPT-2 does: a space is "\u0120".
struct BytePairVocabulary {
  std::vector<std::string_view> tokens;  ///< token i has id i
  std::vector<std::string_view> merges;  ///< "left right", the first ones are done first
  std::vector<TokenId> specials{};       ///< ids of tokens that are cut out of a text, written as they are
  std::optional<TokenId> unknown{};      ///< for bytes that have no token
  PieceRules rules = PieceRules::gpt2;
};

/// Whether a special token that a text spells out becomes that token, or is text like any other: what an
/// untrusted writer says must not end his turn.
enum class SpelledSpecials { tokens, text };

namespace detail {

/// GPT-2's character for each byte: itself where it is printable, else the next free one from U+0100.
inline std::array<utf8proc_int32_t, 256> byte_characters() noexcept {
  std::array<utf8proc_int32_t, 256> characters{};
  utf8proc_int32_t next = 256;
  for (utf8proc_int32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (33 <= byte && byte <= 126) || (161 <= byte && byte != 173);
    characters[std::size_t(byte)] = printable ? byte : next++;
  }
  return characters;
}

}  // namespace detail

/// Byte-level byte-pair encoding, the tokenizer of GPT-2, SmolLM and their like: the bytes of each piece of a
/// text are merged pair by pair, the pair that comes first in the list of merges first.
///
///     lower  ->  l o w e r  ->  lo w e r  ->  low e r  ->  low er
///
/// There is no text that it cannot encode; decoding gives back the bytes exactly, as far as every byte has a
/// token. Cost: O(n log n) for a piece of n bytes. Paper: Sennrich et al., "Neural Machine Translation of
/// Rare Words with Subword Units", 2016, section 3.2; Radford et al., "Language Models are Unsupervised
/// Multitask Learners", 2019, section 2.2, for bytes.
class BytePair {
 public:
  /// Throws FormatError, naming `file` and the token or merge, when a merge is not two tokens whose union is
  /// a token, a special is outside the vocabulary or empty, or a byte has no token and there is none for the
  /// unknown.
  explicit BytePair(const BytePairVocabulary& vocabulary, const std::string& file = "BytePair")
      : unknown_(vocabulary.unknown), rules_(vocabulary.rules) {
    if (vocabulary.tokens.size() > std::size_t(std::numeric_limits<TokenId>::max())) {
      fail_format(file, "tokens",
                  "are " + std::to_string(vocabulary.tokens.size()) + ", expected at most 2^31 - 1");
    }
    std::unordered_map<std::string_view, TokenId> ids;
    for (std::size_t i = 0; i < vocabulary.tokens.size(); ++i) {
      ids.emplace(vocabulary.tokens[i], TokenId(i));
      bytes_.push_back(bytes_of(vocabulary.tokens[i]));
    }
    read_bytes(ids, file);
    read_merges(vocabulary.merges, ids, file);
    read_specials(vocabulary, file);
  }

  Index size() const noexcept { return Index(bytes_.size()); }

  /// The tokens of a text; nothing is added at its ends.
  std::vector<TokenId> encode(std::string_view text,
                              SpelledSpecials specials = SpelledSpecials::tokens) const {
    std::vector<TokenId> ids;
    if (specials == SpelledSpecials::text) {
      append_pieces(ids, text);
      return ids;
    }
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size();) {
      const std::optional<TokenId> special = special_at(text.substr(i));
      if (!special) {
        ++i;
        continue;
      }
      append_pieces(ids, text.substr(begin, i - begin));
      ids.push_back(*special);
      i += bytes(*special).size();
      begin = i;
    }
    append_pieces(ids, text.substr(begin));
    return ids;
  }

  /// The bytes of some tokens, specials as they are written. A token may end within a character of UTF-8.
  /// Throws ShapeError for an id outside the vocabulary.
  std::string decode(std::span<const TokenId> ids) const {
    std::string text;
    for (const TokenId id : ids) text += bytes(id);
    return text;
  }

  /// The bytes of one token. Throws ShapeError for an id outside the vocabulary.
  const std::string& bytes(TokenId id) const {
    if (id < 0 || id >= size())
      fail_shape("BytePair: id", std::to_string(id), "0 to " + std::to_string(size() - 1));
    return bytes_[std::size_t(id)];
  }

  /// The special token that is written so. Throws ShapeError when there is none.
  TokenId special(std::string_view written) const {
    for (const TokenId id : specials_)
      if (bytes_[std::size_t(id)] == written) return id;
    fail_shape("BytePair: special token", in_quotes(written),
               "one of the " + std::to_string(specials_.size()) + " of the vocabulary");
  }

 private:
  struct Merge {
    std::size_t rank;
    TokenId result;
  };

  static std::uint64_t pair_of(TokenId left, TokenId right) noexcept {
    return std::uint64_t(std::uint32_t(left)) << 32 | std::uint32_t(right);
  }

  /// What a token's characters stand for. Whoever is no byte's character, as in a special token, stands for
  /// itself.
  static std::string bytes_of(std::string_view token) {
    static const auto byte_at = [] {
      std::array<int, 512> bytes{};
      bytes.fill(-1);
      const auto characters = detail::byte_characters();
      for (std::size_t byte = 0; byte < 256; ++byte) bytes[std::size_t(characters[byte])] = int(byte);
      return bytes;
    }();
    std::string result;
    const auto* at = static_cast<const utf8proc_uint8_t*>(static_cast<const void*>(token.data()));
    const utf8proc_uint8_t* const end = at + token.size();
    while (at != end) {
      utf8proc_int32_t point = 0;
      const utf8proc_ssize_t length = std::max<utf8proc_ssize_t>(1, utf8proc_iterate(at, end - at, &point));
      const int byte = 0 <= point && point < 512 ? byte_at[std::size_t(point)] : -1;
      if (byte >= 0) {
        result += static_cast<char>(static_cast<unsigned char>(byte));
      } else {
        result.append(token.substr(token.size() - std::size_t(end - at), std::size_t(length)));
      }
      at += length;
    }
    return result;
  }

  void read_bytes(const std::unordered_map<std::string_view, TokenId>& ids, const std::string& file) {
    const auto characters = detail::byte_characters();
    for (std::size_t byte = 0; byte < 256; ++byte) {
      std::array<utf8proc_uint8_t, 4> written{};
      const utf8proc_ssize_t length = utf8proc_encode_char(characters[byte], written.data());
      const std::string character(written.begin(), written.begin() + length);
      const auto found = ids.find(character);
      if (found == ids.end() && !unknown_) {
        fail_format(file, "byte " + std::to_string(byte),
                    "has no token " + in_quotes(character) + ", and there is none for the unknown");
      }
      of_byte_[byte] = found == ids.end() ? *unknown_ : found->second;
    }
  }

  void read_merges(const std::vector<std::string_view>& merges,
                   const std::unordered_map<std::string_view, TokenId>& ids, const std::string& file) {
    for (std::size_t rank = 0; rank < merges.size(); ++rank) {
      const std::string_view merge = merges[rank];
      const auto fail = [&](const std::string& text) {
        fail_format(file, "merge " + std::to_string(rank) + " " + in_quotes(merge), text);
      };
      const std::size_t space = merge.find(' ');
      if (space == merge.npos) fail("has no space, expected two tokens");
      const auto id = [&](const std::string& token) {
        const auto found = ids.find(token);
        if (found == ids.end())
          fail("needs the token " + in_quotes(token) + ", which is not in the vocabulary");
        return found->second;
      };
      const std::string left(merge.substr(0, space)), right(merge.substr(space + 1));
      const TokenId first = id(left), second = id(right);
      merges_.emplace(pair_of(first, second), Merge{rank, id(left + right)});
    }
  }

  void read_specials(const BytePairVocabulary& vocabulary, const std::string& file) {
    for (const TokenId id : vocabulary.specials) {
      const std::string subject = "special token " + std::to_string(id);
      if (id < 0 || id >= size())
        fail_format(file, subject, "is outside the vocabulary of " + std::to_string(size()));
      const std::string_view written = vocabulary.tokens[std::size_t(id)];
      if (written.empty()) fail_format(file, subject, "is written as nothing");
      bytes_[std::size_t(id)] = written;
      begins_special_[static_cast<unsigned char>(written.front())] = true;
      specials_.push_back(id);
    }
    if (unknown_ && (*unknown_ < 0 || *unknown_ >= size())) {
      fail_format(file, "unknown token " + std::to_string(*unknown_),
                  "is outside the vocabulary of " + std::to_string(size()));
    }
  }

  /// The longest special token that a text begins with.
  std::optional<TokenId> special_at(std::string_view text) const {
    if (!begins_special_[static_cast<unsigned char>(text.front())]) return std::nullopt;
    std::optional<TokenId> longest;
    for (const TokenId id : specials_) {
      const std::string& written = bytes_[std::size_t(id)];
      if (text.starts_with(written) && (!longest || written.size() > bytes(*longest).size())) longest = id;
    }
    return longest;
  }

  void append_pieces(std::vector<TokenId>& ids, std::string_view text) const {
    for (const std::string_view piece : byte_pair_pieces(text, rules_)) append_merged(ids, piece);
  }

  /// The symbols of a piece are a linked list; the pairs that may merge wait in order of rank, then of place.
  /// A pair whose symbols have changed meanwhile is passed over.
  void append_merged(std::vector<TokenId>& ids, std::string_view piece) const {
    struct Symbol {
      TokenId id;
      std::ptrdiff_t previous, next;
    };
    struct Candidate {
      std::size_t rank;
      std::ptrdiff_t at;
      std::uint64_t pair;
      TokenId result;
      bool operator>(const Candidate& other) const noexcept {
        return std::pair(rank, at) > std::pair(other.rank, other.at);
      }
    };
    const auto count = std::ptrdiff_t(piece.size());
    std::vector<Symbol> symbols;
    symbols.reserve(piece.size());
    for (std::ptrdiff_t i = 0; i < count; ++i)
      symbols.push_back({of_byte_[static_cast<unsigned char>(piece[std::size_t(i)])], i - 1, i + 1});
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> waiting;
    const auto at = [&](std::ptrdiff_t i) -> Symbol& { return symbols[std::size_t(i)]; };
    const auto consider = [&](std::ptrdiff_t left) {
      if (left < 0 || at(left).next >= count) return;
      const std::uint64_t pair = pair_of(at(left).id, at(at(left).next).id);
      const auto merge = merges_.find(pair);
      if (merge != merges_.end()) waiting.push({merge->second.rank, left, pair, merge->second.result});
    };
    constexpr TokenId merged_away = -1;
    for (std::ptrdiff_t i = 0; i + 1 < count; ++i) consider(i);
    while (!waiting.empty()) {
      const Candidate best = waiting.top();
      waiting.pop();
      const std::ptrdiff_t right = at(best.at).next;
      if (right >= count || pair_of(at(best.at).id, at(right).id) != best.pair) continue;
      at(best.at) = {best.result, at(best.at).previous, at(right).next};
      at(right).id = merged_away;
      if (at(best.at).next < count) at(at(best.at).next).previous = best.at;
      consider(at(best.at).previous);
      consider(best.at);
    }
    for (std::ptrdiff_t i = 0; i < count; i = at(i).next) ids.push_back(at(i).id);
  }

  std::vector<std::string> bytes_;  ///< of each token
  std::unordered_map<std::uint64_t, Merge> merges_;
  std::array<TokenId, 256> of_byte_{};
  std::array<bool, 256> begins_special_{};
  std::vector<TokenId> specials_;
  std::optional<TokenId> unknown_;
  PieceRules rules_;
};

}  // namespace headwise::io
