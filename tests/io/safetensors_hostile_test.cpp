#include <headwise/io/safetensors.hpp>

#include <gtest/gtest.h>

#include "io/safetensors_bytes.hpp"

#include <filesystem>
#include <fstream>
#include <limits>

namespace headwise::io {
namespace {

using check::Bytes;
using check::file_claiming;
using check::file_of;
using check::refusal;

/// A header of one tensor 'a', whose entry begins at byte 14. Errors name the byte up to which the parser has
/// read: the end of a text or bracket, and one more after a number, which ends only where something else
/// begins.
std::string entry(const std::string& fields) { return "{\"a\":{" + fields + "}}"; }

std::string two_floats(const std::string& offsets) {
  return entry(R"("dtype":"F32","shape":[2],"data_offsets":)" + offsets);
}

TEST(HostileSafetensors, B133_NegativeOrReversedOffsets) {
  EXPECT_EQ(
      refusal(file_of(two_floats("[-8,8]"), 8)),
      "file: tensor 'a' before byte 59: has -8, expected data_offsets to be two integers from 0 to 2^63 - 1");
  EXPECT_EQ(refusal(file_of(two_floats("[8,4]"), 8)),
            "file: tensor 'a' at byte 14: data_offsets is [8, 4], expected 8 bytes for F32 [2]");
}

TEST(HostileSafetensors, B134_TheProductOfTheShapeWraps) {
  const std::string claims = R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0])";
  EXPECT_EQ(refusal(file_of(entry(claims))),
            "file: tensor 'a' at byte 14: F32 [4294967296, 4294967296] is more than 2^63 - 1 bytes");
  for (const char* shape : {"[9223372036854775807,2]", "[2305843009213693952]", "[0,4294967296,4294967296]",
                            "[4294967296,4294967296,0]", "[3,6148914691236517206]"}) {
    const std::string fields = std::string(R"("dtype":"F64","data_offsets":[0,0],"shape":)") + shape;
    EXPECT_NE(refusal(file_of(entry(fields))).find("is more than 2^63 - 1 bytes"), std::string::npos)
        << shape;
  }
}

TEST(HostileSafetensors, B136_NulIsNoPaddingSpacesAre) {
  const std::string header = two_floats("[0,8]");
  EXPECT_EQ(refusal(file_of(header + std::string(3, '\0'), 8)),
            "file: byte " + std::to_string(8 + header.size()) + ": is NUL, expected JSON; padding is spaces");
  EXPECT_EQ(refusal(file_of(header + "   ", 8)), "(accepted)");
  EXPECT_EQ(refusal(file_of(header + "   {", 8)).find("(accepted)"), std::string::npos);
}

TEST(HostileSafetensors, B137_HeaderLengthsThatCannotBe) {
  EXPECT_EQ(refusal(Bytes(4)), "file: header length at byte 0: the file has 4 bytes, expected at least 8");
  EXPECT_EQ(refusal(Bytes()), "file: header length at byte 0: the file has 0 bytes, expected at least 8");
  EXPECT_EQ(refusal(file_claiming(std::uint64_t(1) << 40, "{}")),
            "file: header length at byte 0: is 1099511627776, expected at most 2, the bytes that follow");
  EXPECT_EQ(refusal(file_claiming(10, "{}")),  // the length of the file
            "file: header length at byte 0: is 10, expected at most 2, the bytes that follow");
  EXPECT_EQ(
      refusal(file_claiming(std::numeric_limits<std::uint64_t>::max(), "{}")),
      "file: header length at byte 0: is 18446744073709551615, expected at most 2, the bytes that follow");
  EXPECT_EQ(refusal(file_claiming(0, "")), "file: header at byte 8: does not begin with '{'");
}

TEST(HostileSafetensors, AHeaderOfMoreThanHundredMegabytesIsRefusedUnread) {
  Bytes bytes = file_claiming(100'000'001, "");
  bytes.resize(8 + 100'000'001);
  EXPECT_EQ(refusal(bytes), "file: header length at byte 0: is 100000001, expected at most 100000000");
}

TEST(HostileSafetensors, EntriesThatAreIncompleteOrOfTheWrongType) {
  const std::string good = R"("dtype":"F32","shape":[2],)";
  const auto reason = [](const std::string& fields) { return refusal(file_of(entry(fields), 8)); };
  EXPECT_EQ(reason(R"("shape":[2],"data_offsets":[0,8])"), "file: tensor 'a' before byte 47: has no dtype");
  EXPECT_EQ(reason(R"("dtype":"F32","data_offsets":[0,8])"), "file: tensor 'a' before byte 49: has no shape");
  EXPECT_EQ(reason(R"("dtype":"F32","shape":[2])"), "file: tensor 'a' before byte 40: has no data_offsets");
  EXPECT_EQ(reason(""), "file: tensor 'a' before byte 15: has no dtype");
  EXPECT_EQ(reason(R"("dtype":"F31","shape":[2],"data_offsets":[0,8])").substr(0, 66),
            "file: tensor 'a' before byte 27: has 'F31', expected the dtype BOO");
  EXPECT_EQ(reason(R"("dtype":1,"shape":[2],"data_offsets":[0,8])").substr(0, 48),
            "file: tensor 'a' before byte 24: has 1, expected");
  EXPECT_EQ(reason(R"("dtype":"F32","shape":2,"data_offsets":[0,8])"),
            "file: tensor 'a' before byte 38: has 2, expected the shape to be an array");
  EXPECT_EQ(reason(R"("dtype":"F32","shape":null,"data_offsets":[0,8])"),
            "file: tensor 'a' before byte 40: has null, expected the shape to be an array");
  EXPECT_EQ(
      reason(R"("dtype":"F32","shape":["2"],"data_offsets":[0,8])"),
      "file: tensor 'a' before byte 40: has '2', expected the shape to hold integers from 0 to 2^63 - 1");
  EXPECT_EQ(reason(R"("dtype":"F32","shape":[[2]],"data_offsets":[0,8])"),
            "file: tensor 'a' before byte 38: has an array, expected the shape to hold integers from 0 to "
            "2^63 - 1");
  EXPECT_EQ(
      reason(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"),
      "file: tensor 'a' before byte 40: has -2, expected the shape to hold integers from 0 to 2^63 - 1");
  EXPECT_EQ(reason(R"("dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,8])"),
            "file: tensor 'a' before byte 57: has 9223372036854775808, expected the shape to hold integers "
            "from 0 to 2^63 - 1");
  EXPECT_EQ(reason(good + R"("data_offsets":[0,8.0])"),
            "file: tensor 'a' before byte 62: has 8.000000, expected data_offsets to be two integers from 0 "
            "to 2^63 - 1");
  EXPECT_EQ(reason(good + R"("data_offsets":[0,8e0])").substr(0, 39),
            "file: tensor 'a' before byte 62: has 8.");
  EXPECT_EQ(reason(good + R"("data_offsets":[0,99999999999999999999])").substr(0, 37),
            "file: tensor 'a' before byte 79: has ");
  EXPECT_EQ(reason(good + R"("data_offsets":[0])"),
            "file: tensor 'a' before byte 58: data_offsets has 1 numbers, expected [begin, end]");
  EXPECT_EQ(reason(good + R"("data_offsets":[0,8,9])").substr(0, 38),
            "file: tensor 'a' before byte 62: has 9");
  EXPECT_EQ(reason(good + R"("data_offsets":{"0":8})"),
            "file: tensor 'a' before byte 56: has an object, expected data_offsets to be an array");
  EXPECT_EQ(
      reason(good + R"("data_offsets":[0,8],"strides":[1])"),
      "file: tensor 'a' before byte 70: has the key 'strides', expected only dtype, shape and data_offsets");
}

TEST(HostileSafetensors, KeysThatOccurTwice) {
  const std::string fields = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
  EXPECT_EQ(refusal(file_of("{\"a\":{" + fields + "},\"a\":{" + fields + "}}", 8)),
            "file: tensor 'a' before byte 65: occurs twice");
  EXPECT_EQ(refusal(file_of(entry(fields + R"(,"shape":[2])"), 8)),
            "file: tensor 'a' before byte 68: has the key 'shape' twice");
  EXPECT_EQ(refusal(file_of(R"({"__metadata__":{"k":"1","k":"2"}})")),
            "file: __metadata__ before byte 36: has the key 'k' twice");
  EXPECT_EQ(refusal(file_of(R"({"__metadata__":{},"__metadata__":{}})")),
            "file: __metadata__ before byte 41: occurs twice");
}

TEST(HostileSafetensors, MetadataThatIsNotStrings) {
  EXPECT_EQ(refusal(file_of(R"({"__metadata__":{"k":1}})")),
            "file: __metadata__ before byte 31: has 1, expected a string");
  EXPECT_EQ(refusal(file_of(R"({"__metadata__":["k"]})")),
            "file: __metadata__ before byte 25: has an array, expected an object of strings");
  EXPECT_EQ(refusal(file_of(R"({"__metadata__":null})")),
            "file: __metadata__ before byte 28: has null, expected an object of strings");
  EXPECT_EQ(
      refusal(file_of(R"({"a":[]})")),
      "file: tensor 'a' before byte 14: has an array, expected an object with dtype, shape and data_offsets");
}

TEST(HostileSafetensors, OverlapsHolesAndTheEndOfTheFile) {
  const auto pair = [](const std::string& first, const std::string& second, std::size_t data) {
    const std::string head = R"(:{"dtype":"U8","shape":[4],"data_offsets":)";
    return refusal(file_of("{\"a\"" + head + first + "},\"b\"" + head + second + "}}", data));
  };
  EXPECT_EQ(pair("[0,4]", "[4,8]", 8), "(accepted)");
  EXPECT_EQ(pair("[4,8]", "[0,4]", 8), "(accepted)");  // the header may be in any order
  EXPECT_EQ(pair("[0,4]", "[3,7]", 8),
            "file: tensor 'b' at byte 66: data_offsets begin at 3, expected 4; tensors must not overlap");
  EXPECT_EQ(pair("[0,4]", "[0,4]", 8),
            "file: tensor 'b' at byte 66: data_offsets begin at 0, expected 4; tensors must not overlap");
  EXPECT_EQ(pair("[0,4]", "[5,9]", 9),
            "file: tensor 'b' at byte 66: data_offsets begin at 5, expected 4; tensors leave no hole");
  EXPECT_EQ(pair("[0,4]", "[4,8]", 9), "file: data at byte 121: 1 bytes belong to no tensor");
  EXPECT_EQ(
      pair("[0,4]", "[4,8]", 7),
      "file: tensor 'b' at byte 66: data_offsets end at 8, expected at most 7, the bytes after the header");
  EXPECT_EQ(pair("[0,4]", "[4,9]", 9),
            "file: tensor 'b' at byte 66: data_offsets is [4, 9], expected 4 bytes for U8 [4]");
}

TEST(HostileSafetensors, OffsetsAtTheEndOfTheNumbers) {
  EXPECT_EQ(
      refusal(file_of(
          entry(R"("dtype":"U8","shape":[9223372036854775807],"data_offsets":[0,9223372036854775807])"), 8)),
      "file: tensor 'a' at byte 14: data_offsets end at 9223372036854775807, expected at most 8, the bytes "
      "after the header");
  EXPECT_EQ(refusal(file_of(two_floats("[9223372036854775800,9223372036854775807]"), 8)).substr(0, 61),
            "file: tensor 'a' at byte 14: data_offsets is [922337203685477");
}

TEST(HostileSafetensors, ScalarsAndEmptyTensorsShareAnOffset) {
  const std::string empty = R"({"dtype":"F32","shape":[0,7],"data_offsets":[0,0]})";
  const std::string scalar = R"({"dtype":"F32","shape":[],"data_offsets":[0,4]})";
  const Bytes bytes = file_of("{\"c\":" + scalar + ",\"b\":" + empty + ",\"a\":" + empty + "}", 4);
  const SafeTensors file = SafeTensors::view(bytes, "file");
  EXPECT_EQ(file.matrix<float>("a").cols(), 7);
  EXPECT_EQ(file.matrix<float>("c").size(), 1);
}

TEST(HostileSafetensors, NestingAsDeepAsTheFileIsLong) {
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(refusal(file_of("{\"a\":" + deep)).substr(0, 47),
            "file: tensor 'a' before byte 14: has an array, ");
  std::string objects = "{";
  for (int i = 0; i < 100'000; ++i) objects += "\"a\":{";
  EXPECT_EQ(refusal(file_of(objects)).substr(0, 36), "file: tensor 'a' before byte 17: has");
  std::string ones = R"({"a":{"shape":[1)";
  for (int i = 0; i < 100'000; ++i) ones += ",1";
  EXPECT_EQ(refusal(file_of(ones)), "file: tensor 'a' before byte 153: has more than 64 dimensions");
}

TEST(HostileSafetensors, TextThatIsNotJsonInUtf8) {
  for (const std::string header : {"{", "{\"a\"", "{\"a\":}", "{,}", "{\"__metadata__\":{},}", "{} x", "{}{}",
                                   "{\"a\xFF\":1}", "{\"\xED\xA0\x80\":1}", "{\"\\ud800\":1}", "{\"a\nb\":1}",
                                   "{'a':1}", "{/**/}", "{\"__metadata__\":{\"a\":\"\\x\"}}", "{]"}) {
    const std::string text = refusal(file_of(header));
    EXPECT_TRUE(text.starts_with("file: text before byte ")) << testing::PrintToString(header) << " " << text;
    EXPECT_TRUE(text.ends_with(" is not JSON in UTF-8")) << testing::PrintToString(header) << " " << text;
  }
  for (const std::string header : {"[]", " {}", "\xEF\xBB\xBF{}", "null", "\"{}\""})
    EXPECT_EQ(refusal(file_of(header)), "file: header at byte 8: does not begin with '{'");
}

TEST(HostileSafetensors, NumbersBeyondEveryDouble) {
  EXPECT_EQ(refusal(file_of(R"({"a":{"dtype":"F32","shape":[4.4e9406729]}})")),
            "file: text before byte 49: is a number beyond every double");
}

TEST(HostileSafetensors, NamesInErrorsArePrintableAndShort) {
  const std::string name = "\\u001b[31m\u00e9" + std::string(1000, 'x');
  EXPECT_EQ(refusal(file_of("{\"" + name + "\":1}")).substr(0, 140),
            "file: tensor '\\x1b[31m\\xc3\\xa9" + std::string(93, 'x') + "...' before byte ");
}

TEST(HostileSafetensors, AnyByteOfTheHeaderMayBeWrong) {
  const std::string header =
      R"({"__metadata__":{"k":"v"},"a":{"dtype":"F16","shape":[2,1],"data_offsets":[0,4]},)"
      R"("b":{"dtype":"BOOL","shape":[3],"data_offsets":[4,7]}}  )";
  const Bytes good = file_of(header, 7);
  ASSERT_EQ(refusal(good), "(accepted)");
  Index accepted = 0, refused = 0;
  for (std::size_t at = 0; at < 8 + header.size(); ++at) {
    std::vector<std::byte> wrong;
    for (int bit = 0; bit < 8; ++bit) wrong.push_back(good[at] ^ (std::byte(1) << bit));
    for (char c : std::string_view("\"\\{}[],: 019-+.ea\n\xC3\xFF\0", 21)) wrong.push_back(std::byte(c));
    for (std::byte value : wrong) {
      Bytes bytes = good;
      bytes[at] = value;
      try {
        const SafeTensors file = SafeTensors::view(bytes, "file");
        for (const auto& [name, info] : file.tensors()) {
          const DtypeFacts& dtype = facts(info.dtype);
          Index read = info.rows * info.cols;
          if (dtype.kind == NumberKind::floating) read = file.matrix<float>(name).size();
          if (dtype.kind == NumberKind::integer) read = file.integers(name).size();
          EXPECT_EQ(std::uint64_t(read) * dtype.size, info.end - info.begin);
        }
        ++accepted;
      } catch (const FormatError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(accepted,
            100);  // other letters in names and texts, digits that still fit, and what changes nothing
  EXPECT_GT(refused, 20 * Index(header.size()));
}

TEST(HostileSafetensors, AnyLengthMayBeMissing) {
  const Bytes good = file_of(two_floats("[0,8]"), 8);
  ASSERT_EQ(refusal(good), "(accepted)");
  for (std::size_t length = 0; length < good.size(); ++length) {
    const Bytes cut(good.begin(), good.begin() + std::ptrdiff_t(length));
    EXPECT_NE(refusal(cut), "(accepted)") << length;
  }
  Bytes longer = good;
  longer.push_back(std::byte(0));
  EXPECT_EQ(refusal(longer), "file: data at byte 70: 1 bytes belong to no tensor");
}

TEST(HostileSafetensors, FilesOnDiskAreCutToo) {
  const auto path = std::filesystem::temp_directory_path() / "headwise_safetensors_hostile_test_cut";
  for (std::size_t length : {0u, 4u, 8u}) {
    std::ofstream(path, std::ios::binary) << std::string(length, '\x02');
    EXPECT_THROW(SafeTensors(path.string()), FormatError) << length;
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace headwise::io
