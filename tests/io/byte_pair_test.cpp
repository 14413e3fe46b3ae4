#include <headwise/io/byte_pair.hpp>

#include <gtest/gtest.h>

#include "support/thrown.hpp"

#include <string>
#include <vector>

namespace headwise::io {
namespace {

using check::thrown;

using Ids = std::vector<TokenId>;
using Pieces = std::vector<std::string_view>;

/// The 256 tokens of the bytes first, written as GPT-2 does, then merges of "lower" and a special token.
class Small {
 public:
  Small() {
    utf8proc_int32_t next = 256;
    for (utf8proc_int32_t byte = 0; byte < 256; ++byte) {
      const bool printable = (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
      utf8proc_uint8_t written[4];
      const utf8proc_ssize_t length = utf8proc_encode_char(printable ? byte : next++, written);
      texts_.emplace_back(written, written + length);
    }
    for (const char* token : {"lo", "low", "er", "\u0120low", "<end>", "<end><end>"})
      texts_.emplace_back(token);
    vocabulary_.tokens = {texts_.begin(), texts_.end()};
    vocabulary_.merges = {"l o", "lo w", "e r", "\u0120 low"};
    vocabulary_.specials = {260, 261};
  }
  Small(const Small&) = delete;
  Small& operator=(const Small&) = delete;

  BytePairVocabulary vocabulary_;

 private:
  std::vector<std::string> texts_;
};

std::string refusal(const BytePairVocabulary& vocabulary) {
  return thrown<FormatError>([&] { (void)BytePair(vocabulary, "file"); });
}

TEST(BytePair, MergesTheEarliestPairFirst) {
  const Small small;
  const BytePair tokenizer(small.vocabulary_);
  EXPECT_EQ(tokenizer.encode("lower"), (Ids{257, 258}));
  EXPECT_EQ(tokenizer.encode("lo lower"), (Ids{256, 259, 258}));
  EXPECT_EQ(tokenizer.encode("lolo"), (Ids{256, 256}));
  EXPECT_EQ(tokenizer.encode(""), Ids{});
}

TEST(BytePair, ReadsSpecialTokensOrDoesNot) {
  const Small small;
  const BytePairVocabulary& vocabulary = small.vocabulary_;
  // [docs io/byte_pair]
  const BytePair tokenizer(vocabulary);

  const std::vector<TokenId> ids = tokenizer.encode("lower<end>");                     // low er <end>
  const std::vector<TokenId> said = tokenizer.encode("<end>", SpelledSpecials::text);  // < e n d >
  const std::string text = tokenizer.decode(ids);                                      // lower<end>
  // [docs end]
  EXPECT_EQ(ids, (Ids{257, 258, 260}));
  EXPECT_EQ(said, (Ids{'<', 'e', 'n', 'd', '>'}));
  EXPECT_EQ(text, "lower<end>");
}

TEST(BytePair, OverlappingPairsMergeFromTheLeft) {
  Small small;
  small.vocabulary_.tokens.push_back("aa");
  small.vocabulary_.merges.push_back("a a");
  const BytePair tokenizer(small.vocabulary_);
  EXPECT_EQ(tokenizer.encode("aaa"), (Ids{262, 'a'}));
  EXPECT_EQ(tokenizer.encode(std::string(100'001, 'a')).size(),
            50'001u);  // and in no more than n log n steps
}

TEST(BytePair, GivesBackEveryByte) {
  const Small small;
  const BytePair tokenizer(small.vocabulary_);
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(static_cast<unsigned char>(byte));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(bytes)), bytes);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("z\u00E9\xFF\xC3 \n\u4E2D")), "z\u00E9\xFF\xC3 \n\u4E2D");
}

TEST(BytePair, CutsSpecialTokensOutWhereTheyAreSpelled) {
  const Small small;
  const BytePair tokenizer(small.vocabulary_);
  EXPECT_EQ(tokenizer.encode("lo<end>lo"), (Ids{256, 260, 256}));
  EXPECT_EQ(tokenizer.encode("<end><end><end>"), (Ids{261, 260}));  // the longest first
  EXPECT_EQ(tokenizer.encode("<end"), (Ids{'<', 'e', 'n', 'd'}));
  EXPECT_EQ(tokenizer.encode("<end>", SpelledSpecials::text), (Ids{'<', 'e', 'n', 'd', '>'}));
  EXPECT_EQ(tokenizer.decode(Ids{256, 261}), "lo<end><end>");
  EXPECT_EQ(tokenizer.special("<end>"), 260);
}

TEST(BytePair, ABytesWithoutATokenIsTheUnknown) {
  Small small;
  small.vocabulary_.tokens['x'] = "y2";
  EXPECT_EQ(refusal(small.vocabulary_),
            "file: byte 120: has no token 'x', and there is none for the unknown");
  small.vocabulary_.unknown = 260;
  EXPECT_EQ(BytePair(small.vocabulary_).encode("yxy"), (Ids{'y', 260, 'y'}));
}

TEST(BytePair, NamesWhatIsWrongWithAVocabulary) {
  const auto with = [](auto&& change) {
    Small small;
    change(small.vocabulary_);
    return refusal(small.vocabulary_);
  };
  EXPECT_EQ(with([](auto& v) { v.merges[1] = "low"; }),
            "file: merge 1 'low': has no space, expected two tokens");
  EXPECT_EQ(with([](auto& v) { v.merges[1] = "lo x"; }),
            "file: merge 1 'lo x': needs the token 'lox', which is not in the vocabulary");
  EXPECT_EQ(with([](auto& v) { v.merges[1] = "qq w"; }),
            "file: merge 1 'qq w': needs the token 'qq', which is not in the vocabulary");
  EXPECT_EQ(with([](auto& v) { v.specials[0] = 262; }),
            "file: special token 262: is outside the vocabulary of 262");
  EXPECT_EQ(with([](auto& v) { v.tokens[260] = ""; }), "file: special token 260: is written as nothing");
  EXPECT_EQ(with([](auto& v) { v.unknown = -1; }),
            "file: unknown token -1: is outside the vocabulary of 262");
  EXPECT_EQ(thrown<ShapeError>([] {
              const Small small;
              (void)BytePair(small.vocabulary_).decode(Ids{262});
            }),
            "BytePair: id is 262, expected 0 to 261");
  EXPECT_EQ(thrown<ShapeError>([] {
              const Small small;
              (void)BytePair(small.vocabulary_).special("<start>");
            }),
            "BytePair: special token is '<start>', expected one of the 2 of the vocabulary");
}

TEST(BytePairPieces, FollowThePattern) {
  EXPECT_EQ(byte_pair_pieces("Hello world", PieceRules::gpt2), (Pieces{"Hello", " world"}));
  EXPECT_EQ(byte_pair_pieces("we'll don't I'M", PieceRules::gpt2),
            (Pieces{"we", "'ll", " don", "'t", " I", "'", "M"}));
  EXPECT_EQ(byte_pair_pieces("a  b   ", PieceRules::gpt2), (Pieces{"a", " ", " b", "   "}));
  EXPECT_EQ(byte_pair_pieces("a\n\n b\tc", PieceRules::gpt2), (Pieces{"a", "\n\n", " b", "\t", "c"}));
  EXPECT_EQ(byte_pair_pieces("x=12.5!!", PieceRules::gpt2), (Pieces{"x", "=", "12", ".", "5", "!!"}));
  EXPECT_EQ(byte_pair_pieces(" \u00E9t\u00E9\u3000\u4E2D", PieceRules::gpt2),
            (Pieces{" \u00E9t\u00E9", "\u3000", "\u4E2D"}));
  EXPECT_EQ(byte_pair_pieces("a\xFF\xFE"
                             "b",
                             PieceRules::gpt2),
            (Pieces{"a", "\xFF\xFE", "b"}));
}

TEST(BytePairPieces, SmollmTakesNumbersOneByOne) {
  EXPECT_EQ(byte_pair_pieces("in 2024, \u00BD", PieceRules::smollm),
            (Pieces{"in", " ", "2", "0", "2", "4", ",", " ", "\u00BD"}));
  // The last space of several is left to what follows, which is now a text of its own.
  EXPECT_EQ(byte_pair_pieces("a  1", PieceRules::smollm), (Pieces{"a", "  ", "1"}));
  EXPECT_EQ(byte_pair_pieces("", PieceRules::smollm), Pieces{});
}

}  // namespace
}  // namespace headwise::io
