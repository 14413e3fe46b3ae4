#include <headwise/io/gguf.hpp>

#include <gtest/gtest.h>

#include "io/gguf_bytes.hpp"

#include <limits>
#include <string>
#include <vector>

namespace headwise::io {
namespace {

using check::GgufBytes;

constexpr std::uint32_t f32 = 0, q4_1 = 3;

/// A file of one tensor 'a', described at byte 24, and as many bytes of numbers.
std::string refusal_of(const std::vector<std::uint64_t>& dims, std::uint32_t type, std::uint64_t offset,
                       std::size_t data) {
  return GgufBytes().header(1, 0).tensor("a", dims, type, offset).pad().zeros(data).refusal();
}

TEST(HostileGguf, WhatIsNoGgufFile) {
  EXPECT_EQ(GgufBytes().refusal(), "file: header at byte 0: does not begin with 'GGUF'");
  EXPECT_EQ(GgufBytes().raw("GGML").zeros(60).refusal(),
            "file: header at byte 0: does not begin with 'GGUF'");
  EXPECT_EQ(GgufBytes().raw("GGUF").refusal(),
            "file: header at byte 4: ends within the version: 4 bytes are needed, 0 are left in the file");
  EXPECT_EQ(GgufBytes().header(0, 0, 1).refusal(), "file: header at byte 4: has version 1, expected 2 or 3");
  EXPECT_EQ(GgufBytes().header(0, 0, 0x03000000).refusal(),
            "file: header at byte 4: is of a big-endian file, expected little-endian");
  EXPECT_EQ(GgufBytes().header(0, 0, 2).refusal(), "(accepted)");
}

TEST(HostileGguf, B137_CountsBeyondTheFile) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(
      GgufBytes().header(most, 0).refusal(),
      "file: header at byte 8: claims 18446744073709551615 tensors, expected at most 0 in the 0 bytes that "
      "follow");
  EXPECT_EQ(
      GgufBytes().header(0, most).zeros(30).refusal(),
      "file: header at byte 16: claims 18446744073709551615 metadata entries, expected at most 2 in the 30 "
      "bytes that follow");
  EXPECT_EQ(
      GgufBytes().header(0, 1).number(most).zeros(8).refusal(),
      "file: metadata entry 0 at byte 32: ends within the key: 18446744073709551615 bytes are needed, 8 are "
      "left in the file");
  EXPECT_EQ(
      GgufBytes()
          .header(0, 1)
          .text("k")
          .number(std::uint32_t(9))
          .number(std::uint32_t(10))
          .number(most >> 3)
          .refusal(),
      "file: metadata 'k' at byte 41: claims 2305843009213693951 elements, expected at most 0 in the 0 bytes "
      "that follow");
}

TEST(HostileGguf, TypesItDoesNotKnow) {
  EXPECT_EQ(GgufBytes().header(0, 1).entry("k", 13, std::uint64_t(0)).refusal(),
            "file: metadata 'k' at byte 33: has 13 as its type, expected 0 to 12");
  EXPECT_EQ(GgufBytes()
                .header(0, 1)
                .text("k")
                .number(std::uint32_t(9))
                .number(std::uint32_t(9))
                .number(std::uint64_t(0))
                .refusal(),
            "file: metadata 'k' at byte 37: is an array of arrays, expected of numbers or texts");
  EXPECT_EQ(refusal_of({256}, 14, 0, 300),
            "file: tensor 'a' at byte 45: is Q6_K (14), expected F32, F16, BF16, Q8_0, Q4_0 or Q4_1");
  EXPECT_EQ(
      refusal_of({256}, 99, 0, 300),
      "file: tensor 'a' at byte 45: is of an unknown type (99), expected F32, F16, BF16, Q8_0, Q4_0 or Q4_1");
}

TEST(HostileGguf, B134_ShapesThatOverflow) {
  const std::uint64_t wide = std::uint64_t(1) << 32;
  EXPECT_EQ(refusal_of({wide, wide}, f32, 0, 8),
            "file: tensor 'a' at byte 24: F32 [4294967296, 4294967296] is more than 2^63 - 1 bytes");
  EXPECT_EQ(refusal_of({0, wide, wide}, f32, 0, 8),
            "file: tensor 'a' at byte 24: F32 [4294967296, 4294967296, 0] is more than 2^63 - 1 bytes");
  EXPECT_EQ(refusal_of({std::uint64_t(1) << 63}, f32, 0, 8),
            "file: tensor 'a' at byte 37: has a dimension of 9223372036854775808, expected at most 2^63 - 1");
  EXPECT_EQ(refusal_of({1, 1, 1, 1, 1}, f32, 0, 8),
            "file: tensor 'a' at byte 33: has 5 dimensions, expected at most 4");
  EXPECT_EQ(refusal_of({31, 2}, q4_1, 0, 64),
            "file: tensor 'a' at byte 24: Q4_1 [2, 31] has rows of 31, expected a multiple of 32");
}

TEST(HostileGguf, B133_OffsetsOutsideTheFileOrUnaligned) {
  EXPECT_EQ(refusal_of({2}, f32, 0, 8), "(accepted)");
  EXPECT_EQ(refusal_of({2}, f32, 32, 8),
            "file: tensor 'a' at byte 24: ends at byte 104, expected at most 72, the length of the file");
  EXPECT_EQ(refusal_of({2}, f32, std::numeric_limits<std::uint64_t>::max() - 31, 8),
            "file: tensor 'a' at byte 49: needs 8 bytes at offset 18446744073709551584, expected to fit the "
            "file of "
            "72");
  EXPECT_EQ(refusal_of({1000}, f32, 0, 8),
            "file: tensor 'a' at byte 49: needs 4000 bytes at offset 0, expected to fit the file of 72");
  EXPECT_EQ(refusal_of({2}, f32, 4, 40),
            "file: tensor 'a' at byte 24: begins at offset 4, expected a multiple of 32");
  EXPECT_EQ(GgufBytes().header(0, 1).entry("general.alignment", 4, std::uint32_t(0)).refusal(),
            "file: metadata 'general.alignment' at byte 53: is 0, expected a positive multiple of 8");
  EXPECT_EQ(GgufBytes().header(0, 1).entry("general.alignment", 10, std::uint64_t(32)).refusal(),
            "file: metadata 'general.alignment' at byte 24: is UINT64, expected UINT32");
}

TEST(HostileGguf, TensorsThatOverlapOrOccurTwice) {
  const auto two = [](const std::string& name, std::uint64_t offset) {
    return GgufBytes()
        .header(2, 0)
        .tensor("a", {9}, f32, 0)
        .tensor(name, {9}, f32, offset)
        .pad()
        .zeros(128)
        .refusal();
  };
  EXPECT_EQ(two("b", 64), "(accepted)");
  EXPECT_EQ(
      two("b", 32),
      "file: tensor 'b' at byte 57: begins at offset 32, expected at least 36; tensors must not overlap");
  EXPECT_EQ(
      two("b", 0),
      "file: tensor 'b' at byte 57: begins at offset 0, expected at least 36; tensors must not overlap");
  EXPECT_EQ(two("a", 64), "file: tensor 'a' at byte 82: occurs twice");
  EXPECT_EQ(GgufBytes().header(0, 2).entry("k", 0, std::uint8_t(1)).entry("k", 0, std::uint8_t(1)).refusal(),
            "file: metadata 'k' at byte 38: occurs twice");
}

TEST(HostileGguf, TextsThatAreNotUtf8) {
  EXPECT_EQ(GgufBytes().header(0, 1).text_entry("k", "\xC3(").refusal(),
            "file: metadata 'k' at byte 45: has '\\xc3(' as a text, expected UTF-8");
  EXPECT_EQ(GgufBytes().header(0, 1).text_entry("\xED\xA0\x80", "").refusal(),
            "file: metadata entry 0 at byte 32: has '\\xed\\xa0\\x80' as the key, expected UTF-8");
  EXPECT_EQ(GgufBytes().header(0, 1).texts_entry("k", {"ok", "\xFF"}).refusal(),
            "file: metadata 'k' at byte 67: has '\\xff' as a text, expected UTF-8");
  EXPECT_EQ(GgufBytes().header(1, 0).tensor("\x80", {1}, f32, 0).pad().zeros(4).refusal(),
            "file: tensor 0 at byte 32: has '\\x80' as the name, expected UTF-8");
  EXPECT_EQ(GgufBytes().header(0, 1).entry("", 0, std::uint8_t(1)).refusal(),
            "file: metadata '' at byte 24: has no key");
}

/// Opens a file of which anything may be wrong, and reads all that it says it has.
bool accepted(const std::vector<std::byte>& bytes) {
  try {
    const Gguf file = Gguf::view(bytes, "file");
    for (const auto& [name, info] : file.tensors()) {
      EXPECT_EQ(file.matrix<float>(name).size(), info.rows * info.cols);
      EXPECT_LE(info.end, bytes.size());
    }
    for (const auto& [key, value] : file.metadata()) {
      if (value.type == GgufType::text) (void)file.text(key);
      if (value.type == GgufType::array && value.element == GgufType::text) {
        EXPECT_EQ(file.texts(key).size(), value.count);
      }
    }
    return true;
  } catch (const FormatError&) {
    return false;
  }
}

GgufBytes whole_file() {
  GgufBytes bytes;
  bytes.header(2, 3)
      .text_entry("general.architecture", "llama")
      .texts_entry("t", {"a", "bc"})
      .numbers_entry("n", 5, std::vector<std::int32_t>{1, 2})
      .tensor("x", {32, 2}, q4_1, 0)
      .tensor("y", {3}, f32, 64)
      .pad()
      .zeros(76);
  return bytes;
}

TEST(HostileGguf, AnyByteMayBeWrong) {
  const std::vector<std::byte> good = whole_file().bytes();
  ASSERT_TRUE(accepted(good));
  Index still = 0, refused = 0;
  for (std::size_t at = 0; at + 76 < good.size(); ++at) {
    for (int wrong = 0; wrong < 256; wrong += at % 7 == 0 ? 1 : 15) {
      std::vector<std::byte> bytes = good;
      bytes[at] = std::byte(wrong);
      ++(accepted(bytes) ? still : refused);
    }
  }
  EXPECT_GT(still, 100);  // other letters, and numbers that still fit
  EXPECT_GT(refused, 100);
}

TEST(HostileGguf, AnyLengthMayBeMissing) {
  const std::vector<std::byte> good = whole_file().bytes();
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(accepted({good.begin(), good.begin() + std::ptrdiff_t(length)})) << length;
  }
}

}  // namespace
}  // namespace headwise::io
