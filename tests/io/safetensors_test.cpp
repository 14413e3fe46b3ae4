#include <headwise/io/safetensors.hpp>
#include <headwise/io/write_safetensors.hpp>

#include <gtest/gtest.h>

#include "io/safetensors_bytes.hpp"
#include "support/golden.hpp"
#include "support/thrown.hpp"

#include <cmath>
#include <filesystem>
#include <limits>

namespace headwise::io {
namespace {

using check::Bytes;
using check::file_of;
using check::thrown;
using Numbers = Matrix<double>;
using Integers = Matrix<std::int64_t>;

constexpr double inf = std::numeric_limits<double>::infinity();

template <class M>
M matrix(Index rows, Index cols, std::initializer_list<typename M::Scalar> numbers) {
  M result(rows, cols);
  std::copy(numbers.begin(), numbers.end(), result.data());
  return result;
}

std::string scratch(const std::string& name) {
  return (std::filesystem::temp_directory_path() / ("headwise_safetensors_test_" + name)).string();
}

/// One tensor of each dtype, written by the reference implementation: Python's safetensors 0.8.0, from torch
/// tensors.
std::string reference_file() {
  return (golden::small_copy().parent_path() / "all_dtypes.safetensors").string();
}

TEST(SafeTensors, ReadsEveryDtypeOfTheReference) {
  const SafeTensors file(reference_file());
  EXPECT_EQ(file.names().size(), 12u);
  EXPECT_EQ(file.metadata().at("by"), "python");

  // The nearest half to 6e-8 is the smallest denormal, 2^-24; to 1e38 the nearest bfloat16 is 301 * 2^118.
  EXPECT_EQ(file.matrix<double>("half"), matrix<Numbers>(1, 5, {1, -2.5, 65504, 0x1p-24, inf}));
  EXPECT_EQ(file.matrix<double>("brain"), matrix<Numbers>(2, 2, {1, -3.140625, 150 * 0x1p119, 0}));
  EXPECT_EQ(file.matrix<double>("single"), matrix<Numbers>(1, 3, {1.5, -2, 3.25}));
  EXPECT_EQ(file.matrix<double>("double"), matrix<Numbers>(1, 1, {0.1}));
  EXPECT_EQ(file.integers("long"), matrix<Integers>(1, 2, {-(std::int64_t(1) << 62), 7}));
  EXPECT_EQ(file.integers("int"), matrix<Integers>(1, 1, {-2147483648}));
  EXPECT_EQ(file.integers("short"), matrix<Integers>(1, 2, {-32768, 5}));
  EXPECT_EQ(file.integers("byte"), matrix<Integers>(1, 2, {255, 0}));
  EXPECT_EQ(file.integers("char"), matrix<Integers>(1, 1, {-128}));
  EXPECT_EQ(file.integers("flag"), matrix<Integers>(2, 1, {1, 0}));
  EXPECT_EQ(file.matrix<float>("double")(0, 0), 0.1f);
  EXPECT_EQ(file.matrix<long double>("half")(0, 1), -2.5L);
}

TEST(SafeTensors, AHigherRankIsTheFirstDimensionTimesTheOthers) {
  const SafeTensors file(reference_file());
  EXPECT_EQ(file.info("cube").shape, (std::vector<Index>{2, 3, 2}));
  EXPECT_EQ(file.matrix<double>("cube"), matrix<Numbers>(2, 6, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST(SafeTensors, AnEmptyTensorKeepsItsShape) {
  const Numbers empty = SafeTensors(reference_file()).matrix<double>("empty");
  EXPECT_EQ(empty.rows(), 0);
  EXPECT_EQ(empty.cols(), 3);
}

TEST(SafeTensors, ReadsEveryHalfAsItsFormulaSays) {
  for (int bits = 0; bits < 65536; ++bits) {
    const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    const float got = float_from_half(std::uint16_t(bits));
    if (exponent == 31) {
      EXPECT_TRUE(fraction == 0 ? std::isinf(got) : std::isnan(got)) << bits;
    } else {
      EXPECT_EQ(double(got), bits < 32768 ? magnitude : -magnitude) << bits;
    }
    EXPECT_EQ(std::signbit(got), bits >= 32768) << bits;
  }
}

TEST(SafeTensors, ReadsTensorsAtOddBytes) {
  const std::string data = std::string("\x01", 1) + std::string("\x00\x00\x80\x3F\x00\x00\x00\xC0", 8);
  const Bytes bytes = file_of(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                              R"("b":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})",
                              data);
  EXPECT_EQ(SafeTensors::view(bytes, "file").matrix<double>("b"), matrix<Numbers>(1, 2, {1, -2}));
}

TEST(SafeTensors, ReturnsBitForBitWhatWasWritten) {
  const std::string path = scratch("round_trip");
  // [docs io/safetensors]
  const Matrix<double> weight = Matrix<double>::Constant(2, 3, 0.1);
  const Matrix<std::int64_t> ids = Matrix<std::int64_t>::Constant(1, 4, -7);

  io::write_safetensors(path, {io::tensor_view("layer.weight", weight), io::tensor_view("ids", ids)},
                        {{"trained_on", "nothing"}});

  const io::SafeTensors file(path);
  const Matrix<double> read = file.matrix<double>("layer.weight");  // [2, 3]
  const Matrix<std::int64_t> read_ids = file.integers("ids");       // [1, 4]
  // [docs end]
  EXPECT_EQ(read, weight);
  EXPECT_EQ(read_ids, ids);
  EXPECT_EQ(file.names(), (std::vector<std::string>{"ids", "layer.weight"}));
  EXPECT_EQ(file.metadata().at("trained_on"), "nothing");
  EXPECT_EQ(file.info("layer.weight").begin % 8, 0u);
  std::filesystem::remove(path);
}

TEST(SafeTensors, SaysWhichTensorIsMissingOrOfAnotherKind) {
  const SafeTensors file(reference_file());
  EXPECT_TRUE(file.contains("half"));
  EXPECT_FALSE(file.contains("hal"));
  EXPECT_EQ(thrown<FormatError>([&] { (void)file.matrix<float>("wte"); }),
            reference_file() + ": tensor 'wte': is missing among the 12 tensors of the file");
  EXPECT_EQ(thrown<FormatError>([&] { (void)file.matrix<float>("long"); }),
            reference_file() +
                ": tensor 'long' at byte 48: is I64 [2], expected floating-point numbers; integers() reads "
                "the others");
  EXPECT_EQ(thrown<FormatError>([&] { (void)file.integers("single"); }),
            reference_file() +
                ": tensor 'single' at byte 289: is F32 [1, 3], expected integers; matrix<Scalar>() reads "
                "floating-point numbers");
}

TEST(SafeTensors, RefusesToReadANumberThatDoesNotFit) {
  const Bytes bytes = file_of(R"({"a":{"dtype":"U64","shape":[2],"data_offsets":[0,16]}})",
                              std::string("\x05\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80", 16));
  const SafeTensors file = SafeTensors::view(bytes, "file");
  EXPECT_EQ(thrown<FormatError>([&] { (void)file.integers("a"); }),
            "file: tensor 'a' at byte 71: holds 9223372036854775808, expected at most 2^63 - 1");
}

TEST(SafeTensors, OpensAFileWithEightBitFloatsAndRefusesOnlyThose) {
  const Bytes bytes = file_of(R"({"a":{"dtype":"F8_E4M3","shape":[3],"data_offsets":[0,3]}})", 3);
  const SafeTensors file = SafeTensors::view(bytes, "file");
  EXPECT_EQ(file.bytes("a").size(), 3u);
  EXPECT_EQ(thrown<FormatError>([&] { (void)file.matrix<float>("a"); }).substr(0, 53),
            "file: tensor 'a' at byte 14: is F8_E4M3 [3], expected");
}

TEST(SafeTensors, NamesTheFileThatCannotBeOpened) {
  EXPECT_EQ(thrown<FormatError>([] { SafeTensors("/nowhere/model.safetensors"); }),
            "/nowhere/model.safetensors: cannot be opened: No such file or directory");
  EXPECT_EQ(thrown<FormatError>([] { SafeTensors("/"); }), "/: is no regular file");
}

TEST(SafeTensors, MovesWithItsMapping) {
  SafeTensors first(reference_file());
  SafeTensors second = std::move(first);
  first = SafeTensors(reference_file());
  second = std::move(first);
  EXPECT_EQ(second.matrix<double>("single")(0, 2), 3.25);
}

}  // namespace
}  // namespace headwise::io
