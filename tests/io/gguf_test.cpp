#include <headwise/io/gguf.hpp>

#include <gtest/gtest.h>

#include "io/gguf_bytes.hpp"
#include "support/thrown.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace headwise::io::gguf_test {
namespace {

using check::GgufBytes;
using check::thrown;

constexpr std::uint32_t f32 = 0, f16 = 1, q4_0 = 2, q4_1 = 3, q8_0 = 8, bf16 = 30;

TEST(Gguf, ReadsEveryKindOfMetadata) {
  const GgufBytes bytes = GgufBytes()
                              .header(0, 14)
                              .entry("a.u8", 0, std::uint8_t(255))
                              .entry("a.i8", 1, std::int8_t(-3))
                              .entry("a.u16", 2, std::uint16_t(65535))
                              .entry("a.i16", 3, std::int16_t(-300))
                              .entry("a.u32", 4, std::uint32_t(4294967295))
                              .entry("a.i32", 5, std::int32_t(-70000))
                              .entry("a.f32", 6, 0.5f)
                              .entry("a.bool", 7, std::uint8_t(1))
                              .text_entry("a.text", "z\xC3\xA9")
                              .texts_entry("a.texts", {"", "x", "yy"})
                              .numbers_entry("a.numbers", 5, std::vector<std::int32_t>{3, -1, 4})
                              .entry("a.u64", 10, std::uint64_t(1) << 40)
                              .entry("a.i64", 11, -(std::int64_t(1) << 40))
                              .entry("a.f64", 12, 0.1);
  const Gguf file = bytes.open();
  EXPECT_EQ(file.integer("a.u8"), 255);
  EXPECT_EQ(file.integer("a.i8"), -3);
  EXPECT_EQ(file.integer("a.u16"), 65535);
  EXPECT_EQ(file.integer("a.i16"), -300);
  EXPECT_EQ(file.integer("a.u32"), 4294967295);
  EXPECT_EQ(file.integer("a.i32"), -70000);
  EXPECT_EQ(file.number("a.f32"), 0.5);
  EXPECT_EQ(file.number("a.f64"), 0.1);
  EXPECT_EQ(file.number("a.i32"), -70000);
  EXPECT_TRUE(file.boolean("a.bool"));
  EXPECT_EQ(file.text("a.text"), "z\xC3\xA9");
  EXPECT_EQ(file.texts("a.texts"), (std::vector<std::string_view>{"", "x", "yy"}));
  EXPECT_EQ(file.integers("a.numbers"), (std::vector<Index>{3, -1, 4}));
  EXPECT_EQ(file.integer("a.u64"), Index(1) << 40);
  EXPECT_EQ(file.integer("a.i64"), -(Index(1) << 40));
  EXPECT_EQ(file.integer("a.none", 7), 7);
  EXPECT_EQ(file.text("a.none", "x"), "x");
  EXPECT_EQ(file.metadata().size(), 14u);
}

TEST(Gguf, AnswersOfAnotherKindNameTheKey) {
  const GgufBytes bytes = GgufBytes()
                              .header(0, 3)
                              .entry("n", 4, std::uint32_t(5))
                              .text_entry("t", "x")
                              .entry("big", 10, ~std::uint64_t(0));
  const Gguf file = bytes.open();
  const auto reason = [](auto&& ask) { return thrown<FormatError>(ask); };
  EXPECT_EQ(reason([&] { (void)file.text("n"); }),
            "file: metadata 'n' at byte 24: is UINT32, expected STRING");
  EXPECT_EQ(reason([&] { (void)file.integer("t"); }),
            "file: metadata 't' at byte 41: is STRING, expected an integer");
  EXPECT_EQ(reason([&] { (void)file.texts("t"); }),
            "file: metadata 't' at byte 41: is STRING, expected an array of STRING");
  EXPECT_EQ(reason([&] { (void)file.boolean("n"); }),
            "file: metadata 'n' at byte 24: is UINT32, expected BOOL");
  EXPECT_EQ(reason([&] { (void)file.integer("none"); }),
            "file: metadata 'none': is missing, expected an integer");
  EXPECT_EQ(reason([&] { (void)file.integer("big"); }),
            "file: metadata 'big' at byte 63: is 18446744073709551615, expected at most 2^63 - 1");
}

TEST(Gguf, ReadsPlainTensors) {
  GgufBytes bytes;
  bytes.header(4, 0)
      .tensor("wide", {3, 2}, f32, 0)
      .tensor("half", {2}, f16, 32)
      .tensor("brain", {2, 1, 2}, bf16, 64)
      .tensor("one", {}, f32, 96)
      .pad();
  for (const float x : {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}) bytes.number(x);
  bytes.pad().number(std::uint16_t(0x3C00)).number(std::uint16_t(0xC100)).pad();
  for (const int bits : {0x3F80, 0xC000, 0x4080, 0x3F00}) bytes.number(std::uint16_t(bits));
  bytes.pad().number(-7.0f);
  const Gguf file = bytes.open();
  Matrix<double> wide(2, 3), half(1, 2), brain(2, 2), one(1, 1);
  wide << 1, 2, 3, 4, 5, 6;
  half << 1, -2.5;
  brain << 1, -2, 4, 0.5;
  one << -7;
  EXPECT_EQ(file.matrix<double>("wide"), wide);
  EXPECT_EQ(file.matrix<float>("half"), half.cast<float>());
  EXPECT_EQ(file.matrix<double>("brain"), brain);
  EXPECT_EQ(file.matrix<double>("one"), one);
  EXPECT_EQ(describe(file.info("brain")), "BF16 [2, 1, 2]");
}

/// Values by the format's definition, written out: block number b has scale 0.5 + b and, in Q4_1, offset -2 -
/// b.
TEST(Gguf, ReadsQuantisedTensors) {
  constexpr std::uint16_t scale[] = {0x3800, 0x3E00}, offset[] = {0xC000, 0xC200};  // 0.5, 1.5; -2, -3
  GgufBytes bytes;
  bytes.header(3, 0)
      .tensor("q8", {64}, q8_0, 0)
      .tensor("q4", {64}, q4_0, 96)
      .tensor("q41", {64}, q4_1, 160)
      .pad();
  for (int b = 0; b < 2; ++b) {
    bytes.number(scale[b]);
    for (int k = 0; k < 32; ++k) bytes.number(std::int8_t(8 * k - 128 + b));
  }
  bytes.pad();
  for (const bool with_offset : {false, true}) {
    for (int b = 0; b < 2; ++b) {
      bytes.number(scale[b]);
      if (with_offset) bytes.number(offset[b]);
      for (int k = 0; k < 16; ++k) bytes.number(std::uint8_t(k | (15 - k) << 4));
    }
    bytes.pad();
  }
  const Gguf file = bytes.open();
  const Matrix<float> q8 = file.matrix<float>("q8"), q4 = file.matrix<float>("q4"),
                      q41 = file.matrix<float>("q41");
  for (int b = 0; b < 2; ++b) {
    const float d = 0.5f + float(b), m = -2.0f - float(b);
    for (int k = 0; k < 32; ++k) {
      const int quantum = k < 16 ? k : 15 - (k - 16);
      EXPECT_EQ(q8(0, 32 * b + k), d * float(8 * k - 128 + b));
      EXPECT_EQ(q4(0, 32 * b + k), d * float(quantum - 8));
      EXPECT_EQ(q41(0, 32 * b + k), d * float(quantum) + m);
    }
  }
}

TEST(Gguf, ReadsTensorsOfNothing) {
  GgufBytes bytes;
  bytes.header(2, 0)
      .tensor("none", {0, std::uint64_t(1) << 40}, f32, 0)
      .tensor("no_rows", {32, 0}, q8_0, 0)
      .pad();
  const Gguf file = bytes.open();
  EXPECT_EQ(file.matrix<double>("none").rows(), Index(1) << 40);
  EXPECT_EQ(file.matrix<float>("none").size(), 0);
  EXPECT_EQ(file.matrix<float>("no_rows").cols(), 32);
}

TEST(Gguf, AlignmentIsTheFilesOwn) {
  GgufBytes bytes;
  bytes.header(2, 1)
      .entry("general.alignment", 4, std::uint32_t(8))
      .tensor("a", {1}, f32, 0)
      .tensor("b", {1}, f32, 8);
  bytes.pad(8).number(1.0f).pad(8).number(2.0f);
  const Gguf file = bytes.open();
  EXPECT_EQ(file.matrix<float>("a")(0, 0), 1);
  EXPECT_EQ(file.matrix<float>("b")(0, 0), 2);
}

TEST(Gguf, OpensAFileOnDisk) {
  const auto path = std::filesystem::temp_directory_path() / "headwise_gguf_test.gguf";
  GgufBytes bytes;
  bytes.header(1, 0).tensor("a", {2}, f32, 0).pad().number(1.0f).number(2.0f);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.bytes().data()), std::streamsize(bytes.size()));
  const Gguf file(path.string());
  EXPECT_EQ(file.matrix<float>("a")(0, 1), 2);
  EXPECT_EQ(file.bytes("a").size(), 8u);
  EXPECT_EQ(thrown<FormatError>([&] { (void)file.info("b"); }),
            path.string() + ": tensor 'b': is missing among the 1 tensors of the file");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace headwise::io::gguf_test
