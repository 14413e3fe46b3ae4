#include <headwise/io/json_text.hpp>
#include <headwise/io/wordpiece.hpp>

#include <gtest/gtest.h>

#include "support/golden.hpp"
#include "support/thrown.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace headwise::io::wordpiece_test {
namespace {

using check::thrown;
using Ids = std::vector<TokenId>;

/// tests/data/wordpiece_cases.json: texts from all corners of Unicode over a small made vocabulary, and what
/// Hugging Face's tokenizers makes of them; its first entry says how they were produced.
const nlohmann::json& cases() {
  static const nlohmann::json read = [] {
    const MappedFile file((golden::small_copy().parent_path() / "wordpiece_cases.json").string());
    return parse_json(file.text(), 0, file.path(), [](const JsonEvent&) { return true; });
  }();
  return read;
}

WordPieceOptions options_of(const nlohmann::json& group) {
  WordPieceOptions options;
  options.text.lower_case = group.at("lower_case").get<bool>();
  if (!group.at("strip_accents").is_null())
    options.text.strip_accents = group.at("strip_accents").get<bool>();
  return options;
}

std::vector<std::string> vocabulary() { return cases().at("vocabulary").get<std::vector<std::string>>(); }

WordPiece small() {
  return WordPiece({"[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "##a", "a", ".", "it", "'", "##s"});
}

TEST(WordPiece, IdsEqualThoseOfTheReference) {
  ASSERT_EQ(cases().at("groups").size(), 4u);  // lower-casing and accents, each on and off
  for (const auto& group : cases().at("groups")) {
    const WordPiece tokenizer(vocabulary(), options_of(group));
    for (const auto& each : group.at("cases")) {
      EXPECT_EQ(tokenizer.tokenize(each.at("text").get<std::string>()), each.at("ids").get<Ids>())
          << testing::PrintToString(each.at("text").get<std::string>());
    }
  }
}

TEST(WordPiece, WordsEqualThoseOfTheReference) {
  for (const auto& group : cases().at("groups")) {
    const BertTextOptions options = options_of(group).text;
    for (const auto& each : group.at("cases")) {
      if (!each.contains("words")) continue;  // spells out a special token, which is taken out before
      EXPECT_EQ(bert_words(each.at("text").get<std::string>(), options),
                each.at("words").get<std::vector<std::string>>())
          << testing::PrintToString(each.at("text").get<std::string>());
    }
  }
}

TEST(WordPiece, EncodingsAreCutAsByTheReference) {
  const WordPiece tokenizer(vocabulary());
  for (const auto& each : cases().at("encodings")) {
    const auto first = each.at("first").get<std::string>();
    const auto max_length = each.at("max_length").get<Index>();
    const Encoding encoding =
        each.contains("second")
            ? tokenizer.encode_pair(first, each.at("second").get<std::string>(), max_length)
            : tokenizer.encode(first, max_length);
    EXPECT_EQ(encoding.ids, each.at("ids").get<Ids>()) << first << ", max_length " << max_length;
    EXPECT_EQ(encoding.segments, each.at("segments").get<Ids>()) << first << ", max_length " << max_length;
  }
}

TEST(WordPiece, DecodesAsTheReference) {
  const WordPiece tokenizer(vocabulary());
  for (const auto& each : cases().at("decodings")) {
    const auto ids = each.at("ids").get<Ids>();
    EXPECT_EQ(tokenizer.decode(ids), each.at("text").get<std::string>());
    EXPECT_EQ(tokenizer.decode(ids, Specials::keep), each.at("with_specials").get<std::string>());
  }
}

TEST(WordPiece, CutsAWordFromTheLeftIntoTheLongestPieces) {
  // [docs io/wordpiece]
  const io::WordPiece tokenizer({"[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "it", "'", "s", "."});

  const io::Encoding encoding = tokenizer.encode("It's unaffable.");

  std::string shown;
  for (TokenId id : encoding.ids) shown += tokenizer.token(id) + " ";  // [CLS] it ' s un ##aff ##able . [SEP]
  const std::string text = tokenizer.decode(encoding.ids);             // it ' s unaffable.
  // [docs end]
  EXPECT_EQ(shown, "[CLS] it ' s un ##aff ##able . [SEP] ");
  EXPECT_EQ(text, "it ' s unaffable.");
  EXPECT_EQ(encoding.ids, (Ids{1, 6, 7, 8, 3, 4, 5, 9, 2}));
  EXPECT_EQ(encoding.segments, Ids(9, 0));
}

TEST(WordPiece, AWordWithOneUnknownPieceIsUnknownAsAWhole) {
  EXPECT_EQ(small().tokenize("unaffx a unx"), (Ids{0, 7, 0}));
}

TEST(WordPiece, CountsCharactersNotBytesOfALongWord) {
  WordPieceOptions options;
  options.max_chars_per_word = 3;
  const WordPiece tokenizer({"[UNK]", "[CLS]", "[SEP]", "\u0436", "##\u0436"}, options);
  EXPECT_EQ(tokenizer.tokenize("\u0436\u0436\u0436"), (Ids{3, 4, 4}));
  EXPECT_EQ(tokenizer.tokenize("\u0436\u0436\u0436\u0436"), (Ids{0}));
}

TEST(WordPiece, APieceNeverEndsInsideACharacter) {
  // The vocabulary's bytes C3 and A9 are the two halves of an e with an acute accent.
  WordPieceOptions options;
  options.text.strip_accents = false;
  const WordPiece tokenizer({"[UNK]", "[CLS]", "[SEP]", "\xC3", "##\xA9"}, options);
  EXPECT_EQ(tokenizer.tokenize("\u00e9"), (Ids{0}));
}

TEST(WordPiece, DropsBytesThatAreNoUtf8) {
  const WordPiece tokenizer = small();
  const Ids whole = tokenizer.tokenize("unaffable a");
  for (const std::string text : {"un\xFF"
                                 "affable a",
                                 "una\xC3"
                                 "ffable a",
                                 "una\xE2\x82"
                                 "ffable a",
                                 "una\xF0\x9F\x99"
                                 "ffable a",
                                 "una\xED\xA0\x80"
                                 "ffable a",
                                 "una\xC0\x80"
                                 "ffable a",
                                 "una\xF5\x80\x80\x80"
                                 "ffable a",
                                 "unaffable a\xE2", "unaffable a\xF0\x9F\x99", "\x80unaffable a"}) {
    EXPECT_EQ(tokenizer.tokenize(text), whole) << testing::PrintToString(text);
  }
}

TEST(WordPiece, EveryCutOfATextIsReadWithinItsBounds) {
  const std::string text = "un[CLS]\u00e9\u20ac\U0001F642[SEP]a";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::vector<char> exact(text.begin(), text.begin() + std::ptrdiff_t(length));  // no NUL behind it
    const Ids ids = small().tokenize({exact.data(), exact.size()});
    EXPECT_LE(ids.size(), length);
  }
}

TEST(WordPiece, AHundredThousandMarksOnOneLetterAreRemoved) {
  std::string text = "a";
  for (int i = 0; i < 100'000; ++i) text += i % 2 == 0 ? "\u0301" : "\u0323";  // classes 230 and 220
  EXPECT_EQ(small().tokenize(text), (Ids{7}));
}

TEST(WordPiece, LeavesRoomForTheSpecialTokensOrRefuses) {
  const WordPiece tokenizer = small();
  EXPECT_EQ(tokenizer.encode("a a", 2).ids, (Ids{1, 2}));
  EXPECT_EQ(tokenizer.encode_pair("a a", "a", 3).ids, (Ids{1, 2, 2}));
  EXPECT_EQ(thrown<ShapeError>([&] { (void)tokenizer.encode("a", 1); }),
            "WordPiece: max_length is 1, expected at least 2; [CLS] and every [SEP] count");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)tokenizer.encode_pair("a", "a", 2); }),
            "WordPiece: max_length is 2, expected at least 3; [CLS] and every [SEP] count");
}

TEST(WordPiece, RefusesIdsOutsideTheVocabulary) {
  const WordPiece tokenizer = small();
  EXPECT_EQ(thrown<ShapeError>([&] { (void)tokenizer.token(12); }), "WordPiece: id is 12, expected 0 to 11");
  EXPECT_EQ(thrown<ShapeError>([&] {
              (void)tokenizer.decode(Ids{7, -1});
            }),
            "WordPiece: id is -1, expected 0 to 11");
}

TEST(WordPiece, NamesTheSpecialTokenThatIsMissing) {
  EXPECT_EQ(thrown<FormatError>([] {
              WordPiece({"[UNK]", "[CLS]"});
            }),
            "WordPiece: token '[SEP]': is missing among the 2 of the vocabulary");
}

TEST(WordPiece, ReadsAVocabularyFileWithAnyLineEnds) {
  const auto path = std::filesystem::temp_directory_path() / "headwise_wordpiece_test_vocab.txt";
  std::ofstream(path, std::ios::binary) << "[UNK]\r\n[CLS]\n[SEP]  \nun\n\n##a";
  const WordPiece tokenizer = WordPiece::load(path.string());
  std::filesystem::remove(path);

  EXPECT_EQ(tokenizer.size(), 6);
  EXPECT_EQ(tokenizer.token(0), "[UNK]");
  EXPECT_EQ(tokenizer.token(2), "[SEP]");
  EXPECT_EQ(tokenizer.token(4), "");
  EXPECT_EQ(tokenizer.tokenize("una"), (Ids{3, 5}));
  EXPECT_EQ(tokenizer.id("un"), TokenId(3));
  EXPECT_FALSE(tokenizer.id("nu").has_value());
}

TEST(WordPiece, NamesTheVocabularyFileThatIsNotThere) {
  EXPECT_EQ(thrown<FormatError>([] { (void)WordPiece::load("/nowhere/vocab.txt"); }),
            "/nowhere/vocab.txt: cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace headwise::io::wordpiece_test
