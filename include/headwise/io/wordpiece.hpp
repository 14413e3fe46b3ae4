#pragma once

#include <headwise/core/error.hpp>
#include <headwise/io/bert_text.hpp>
#include <headwise/io/mapped_file.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headwise::io {

struct WordPieceOptions {
  BertTextOptions text{};          ///< lower-casing and accents
  Index max_chars_per_word = 100;  ///< a longer word is unknown
  std::string unknown = "[UNK]", first = "[CLS]", separator = "[SEP]", padding = "[PAD]", mask = "[MASK]";
};

/// Tokens of one text or of a pair, ready for a model.
struct Encoding {
  std::vector<TokenId> ids;
  std::vector<TokenId> segments;  ///< one a token: 0 for the first text and its specials, 1 for the second's
};

/// Whether decoding shows [CLS], [SEP] and their like.
enum class Specials { skip, keep };

/// WordPiece, the tokenizer of BERT: each word is cut from the left into the longest pieces that the
/// vocabulary has.
///
///     unaffable  ->  un ##aff ##able          a piece inside a word is written with ##
///
/// Its ids equal those of Hugging Face's tokenizers 0.23 (BertNormalizer, BertPreTokenizer, WordPiece). A
/// special token written out in a text, such as "[MASK]", becomes that token. Cost: O(length * longest
/// piece). Paper: Wu et al., "Google's Neural Machine Translation System", 2016, section 4.1; matching as in
/// Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2019.
class WordPiece {
 public:
  static constexpr Index unlimited = std::numeric_limits<Index>::max();

  /// Reads a vocab.txt: one token a line, its id the number of the line from 0; trailing spaces do not count.
  /// Throws FormatError when the file cannot be read, or lacks the unknown, first or separator token.
  static WordPiece load(const std::string& path, const WordPieceOptions& options = {}) {
    const MappedFile file(path);
    std::vector<std::string> vocabulary;
    std::string_view rest = file.text();
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view token = rest.substr(0, end);
      while (!token.empty() && is_trailing_space(token.back())) token.remove_suffix(1);
      vocabulary.emplace_back(token);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return {std::move(vocabulary), options, file.path()};
  }

  /// The token of id i is vocabulary[i]; of equal tokens the last one counts.
  /// Throws FormatError when the unknown, first or separator token is missing.
  explicit WordPiece(std::vector<std::string> vocabulary, const WordPieceOptions& options = {})
      : WordPiece(std::move(vocabulary), options, "WordPiece") {}

  Index size() const noexcept { return Index(tokens_.size()); }

  std::optional<TokenId> id(std::string_view token) const {
    const auto found = ids_.find(token);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Throws ShapeError for an id outside the vocabulary.
  const std::string& token(TokenId id) const {
    if (id < 0 || id >= size()) {
      fail_shape("WordPiece: id", std::to_string(id), "0 to " + std::to_string(size() - 1));
    }
    return tokens_[std::size_t(id)];
  }

  /// The tokens of a text, without any [CLS] or [SEP] that it does not spell out.
  std::vector<TokenId> tokenize(std::string_view text) const {
    std::vector<TokenId> ids;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size();) {
      const Special* const special = special_at(text.substr(i));
      if (special == nullptr) {
        ++i;
        continue;
      }
      append_words(ids, text.substr(begin, i - begin));
      ids.push_back(special->id);
      i += special->token.size();
      begin = i;
    }
    append_words(ids, text.substr(begin));
    return ids;
  }

  /// [CLS] text [SEP], the text cut at its end so that all are at most `max_length` tokens.
  /// Throws ShapeError when max_length leaves no room for the two.
  Encoding encode(std::string_view text, Index max_length = unlimited) const {
    expect_room(max_length, 2);
    std::vector<TokenId> ids = tokenize(text);
    ids.resize(std::min(ids.size(), std::size_t(max_length - 2)));
    Encoding encoding;
    append(encoding, {}, first_, 0);
    append(encoding, ids, separator_, 0);
    return encoding;
  }

  /// [CLS] first [SEP] second [SEP], the longer text cut first, both alike when both are long.
  /// Throws ShapeError when max_length leaves no room for the three.
  Encoding encode_pair(std::string_view first, std::string_view second, Index max_length = unlimited) const {
    expect_room(max_length, 3);
    std::vector<TokenId> a = tokenize(first), b = tokenize(second);
    cut_pair(a, b, std::size_t(max_length - 3));
    Encoding encoding;
    append(encoding, {}, first_, 0);
    append(encoding, a, separator_, 0);
    append(encoding, b, separator_, 1);
    return encoding;
  }

  /// The text of some tokens: words joined by spaces, except before punctuation that has none.
  /// Throws ShapeError for an id outside the vocabulary.
  std::string decode(std::span<const TokenId> ids, Specials specials = Specials::skip) const {
    std::string text;
    bool at_start = true;
    for (TokenId id : ids) {
      std::string_view piece = token(id);
      if (specials == Specials::skip && is_special(id)) continue;
      if (!at_start && piece.starts_with("##")) {
        piece.remove_prefix(2);
      } else if (!at_start && !joins_left(piece)) {
        text += ' ';
      }
      text += piece;
      at_start = false;
    }
    return text;
  }

 private:
  struct Special {
    std::string token;
    TokenId id;
  };
  /// Lets the maps be asked about a string_view.
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  using Ids = std::unordered_map<std::string, TokenId, Hash, std::equal_to<>>;

  WordPiece(std::vector<std::string> vocabulary, const WordPieceOptions& options, const std::string& file)
      : options_(options), tokens_(std::move(vocabulary)) {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const std::string_view token = tokens_[i];
      ids_.insert_or_assign(tokens_[i], TokenId(i));
      longest_ = std::max(longest_, token.size());
      if (token.starts_with("##")) inner_.insert_or_assign(std::string(token.substr(2)), TokenId(i));
    }
    unknown_ = require(options.unknown, file);
    first_ = require(options.first, file);
    separator_ = require(options.separator, file);
    for (const std::string* token :
         {&options.unknown, &options.first, &options.separator, &options.padding, &options.mask})
      if (const auto found = id(*token); found && !token->empty()) specials_.push_back({*token, *found});
  }

  TokenId require(const std::string& token, const std::string& file) const {
    const auto found = id(token);
    if (!found) {
      fail_format(file, "token " + in_quotes(token),
                  "is missing among the " + std::to_string(size()) + " of the vocabulary");
    }
    return *found;
  }

  static bool is_trailing_space(char c) noexcept { return c == ' ' || ('\t' <= c && c <= '\r'); }

  static void expect_room(Index max_length, Index least) {
    if (max_length < least) {
      fail_shape("WordPiece: max_length", std::to_string(max_length), "at least " + std::to_string(least),
                 "[CLS] and every [SEP] count");
    }
  }

  static void append(Encoding& encoding, const std::vector<TokenId>& ids, TokenId last, TokenId segment) {
    encoding.ids.insert(encoding.ids.end(), ids.begin(), ids.end());
    encoding.ids.push_back(last);
    encoding.segments.resize(encoding.ids.size(), segment);
  }

  /// The shorter one keeps all that fits beside an equally long other one; half and half if both are longer.
  static void cut_pair(std::vector<TokenId>& a, std::vector<TokenId>& b, std::size_t room) {
    if (a.size() + b.size() <= room) return;
    std::vector<TokenId>&shorter = a.size() > b.size() ? b : a, &longer = a.size() > b.size() ? a : b;
    const std::size_t least = std::min(shorter.size(), room / 2);
    longer.resize(room - least);
    shorter.resize(least);
  }

  const Special* special_at(std::string_view text) const noexcept {
    const Special* longest = nullptr;
    for (const Special& special : specials_) {
      const bool better = longest == nullptr || special.token.size() > longest->token.size();
      if (better && text.starts_with(special.token)) longest = &special;
    }
    return longest;
  }

  bool is_special(TokenId id) const noexcept {
    return std::any_of(specials_.begin(), specials_.end(),
                       [id](const Special& special) { return special.id == id; });
  }

  /// Tokens before which decoding writes no space.
  static bool joins_left(std::string_view token) noexcept {
    constexpr std::array<std::string_view, 9> joining{".", "?", "!", ",", "n't", "'m", "'s", "'ve", "'re"};
    return std::any_of(joining.begin(), joining.end(),
                       [token](std::string_view s) { return token.starts_with(s); });
  }

  void append_words(std::vector<TokenId>& ids, std::string_view text) const {
    for (const std::string& word : bert_words(text, options_.text)) append_pieces(ids, word);
  }

  /// All pieces of a word, or the unknown token alone.
  void append_pieces(std::vector<TokenId>& ids, std::string_view word) const {
    const std::size_t before = ids.size();
    const auto begins_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
    const auto characters = std::count_if(word.begin(), word.end(), begins_character);
    bool known = characters <= options_.max_chars_per_word;
    for (std::size_t begin = 0; known && begin < word.size();) {
      const Ids& pieces = begin == 0 ? ids_ : inner_;
      std::size_t length = std::min(longest_, word.size() - begin);
      for (known = false; length > 0; --length) {
        if (begin + length < word.size() && !begins_character(word[begin + length])) continue;
        const auto piece = pieces.find(word.substr(begin, length));
        if (piece == pieces.end()) continue;
        ids.push_back(piece->second);
        known = true;
        break;
      }
      begin += length;
    }
    if (known) return;
    ids.resize(before);
    ids.push_back(unknown_);
  }

  WordPieceOptions options_;
  std::vector<std::string> tokens_;
  Ids ids_, inner_;  ///< all tokens; those that begin with ##, without it
  std::size_t longest_ = 0;
  TokenId unknown_ = 0, first_ = 0, separator_ = 0;
  std::vector<Special> specials_;
};

}  // namespace headwise::io
