#include <headwise/io/safetensors.hpp>
#include <headwise/io/write_safetensors.hpp>

#include <gtest/gtest.h>

#include "support/golden.hpp"
#include "support/thrown.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

namespace headwise::io::write_safetensors_test {
namespace {

using check::thrown;

std::string scratch(const std::string& name) {
  return (std::filesystem::temp_directory_path() / ("headwise_write_safetensors_test_" + name)).string();
}

std::string bytes_of(const std::string& path) {
  const MappedFile file(path);
  return std::string(file.text());
}

/// Written by the reference implementation: Python's safetensors 0.8.0, from torch
/// tensors.
std::string reference_file() {
  return (golden::small_copy().parent_path() / "all_dtypes.safetensors").string();
}

TEST(WriteSafetensors, RewritesTheReferenceByteForByte) {
  const SafeTensors file(reference_file());
  std::vector<TensorView> tensors;
  for (const auto& [name, info] : file.tensors())
    tensors.push_back({name, info.dtype, info.shape, file.bytes(name)});

  const std::string path = scratch("rewritten");
  write_safetensors(path, tensors, {{"by", "python"}});

  EXPECT_EQ(bytes_of(path), bytes_of(reference_file()));
  std::filesystem::remove(path);
}

TEST(WriteSafetensors, KeepsTheBitsOfNumbersThatAreNone) {
  Matrix<float> odd(1, 3);
  odd << std::numeric_limits<float>::quiet_NaN(), -0.0f, std::numeric_limits<float>::denorm_min();
  const std::string path = scratch("odd");
  write_safetensors(path, {tensor_view("odd", odd)});
  const Matrix<float> read = SafeTensors(path).matrix<float>("odd");
  EXPECT_EQ(std::memcmp(read.data(), odd.data(), sizeof(float) * 3), 0);
  std::filesystem::remove(path);
}

TEST(WriteSafetensors, NamesAndTextsAreWrittenAsJson) {
  const Matrix<float> one = Matrix<float>::Ones(1, 1);
  const std::string name = "a\"b\\c\n\x01\u00e9\U0001F642", path = scratch("names");
  write_safetensors(path, {tensor_view(name, one)}, {{name, name}});
  const SafeTensors file(path);
  EXPECT_EQ(file.names(), std::vector<std::string>{name});
  EXPECT_EQ(file.metadata().at(name), name);
  std::filesystem::remove(path);
}

TEST(WriteSafetensors, AFileWithoutTensorsIsAFile) {
  const std::string path = scratch("none");
  write_safetensors(path, {});
  EXPECT_TRUE(SafeTensors(path).names().empty());
  std::filesystem::remove(path);
}

TEST(WriteSafetensors, RefusesWhatNoReaderWouldTakeBeforeItWrites) {
  const Matrix<float> one = Matrix<float>::Ones(1, 1);
  const std::string path = scratch("refused");
  const auto error = [&](const std::vector<TensorView>& tensors) {
    return thrown<ShapeError>([&] { write_safetensors(path, tensors); });
  };
  EXPECT_EQ(error({tensor_view("a", one), tensor_view("b", one), tensor_view("a", one)}),
            "write_safetensors: 'a' is the name of two tensors, expected one");
  EXPECT_EQ(error({tensor_view("__metadata__", one)}),
            "write_safetensors: '__metadata__' is reserved, expected the name of a tensor");
  EXPECT_EQ(error({tensor_view("\xFF", one)}), "write_safetensors: '\\xff' is not UTF-8");
  EXPECT_EQ(error({{"a", Dtype::f64, {1, 1}, tensor_view("a", one).bytes}}),
            "write_safetensors: 'a' has 4 bytes, expected those of F64 [1, 1]");
  EXPECT_EQ(error({{"a", Dtype::f32, {-1, -1}, tensor_view("a", one).bytes}}),
            "write_safetensors: 'a' dimension is -1, expected zero or more");
  const Index large = Index(1) << 32;
  EXPECT_EQ(error({{"a", Dtype::f32, {large, large}, {}}}),
            "write_safetensors: 'a' has 0 bytes, expected those of F32 [4294967296, 4294967296]");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(WriteSafetensors, LeavesTheOldFileUntilTheNewOneIsWhole) {
  const std::filesystem::path folder = scratch("folder");
  std::filesystem::create_directory(folder);
  const std::string path = (folder / "model.safetensors").string();
  const Matrix<float> one = Matrix<float>::Ones(1, 1), two = Matrix<float>::Constant(1, 1, 2.0f);

  write_safetensors(path, {tensor_view("a", one)});
  const SafeTensors old(path);
  std::ofstream(path + ".part-0") << "left over from a writer that was killed";
  write_safetensors(path, {tensor_view("a", two)});

  EXPECT_EQ(old.matrix<float>("a")(0, 0), 1.0f);  // a reader of the old file keeps it
  EXPECT_EQ(SafeTensors(path).matrix<float>("a")(0, 0), 2.0f);
  EXPECT_FALSE(std::filesystem::exists(path + ".part-1"));
  std::filesystem::remove_all(folder);
}

TEST(WriteSafetensors, NamesThePathThatCannotBeWritten) {
  const Matrix<float> one = Matrix<float>::Ones(1, 1);
  EXPECT_EQ(
      thrown<FormatError>([&] { write_safetensors("/nowhere/a.safetensors", {tensor_view("a", one)}); }),
      "/nowhere/a.safetensors: cannot be created: No such file or directory");
  const std::filesystem::path folder = scratch("is_a_folder");
  std::filesystem::create_directory(folder);
  EXPECT_EQ(thrown<FormatError>([&] { write_safetensors(folder.string(), {tensor_view("a", one)}); }),
            folder.string() + ": cannot be replaced: Is a directory");
  EXPECT_FALSE(std::filesystem::exists(folder.string() + ".part-0"));
  std::filesystem::remove(folder);
}

TEST(WriteSafetensors, Utf8IsJudgedAsTheStandardSays) {
  for (const std::string good : {"", "a", "\u00e9", "\u20ac", "\uD7FF", "\uE000", "\U0001F642", "\U0010FFFF"})
    EXPECT_TRUE(detail::is_utf8(good)) << testing::PrintToString(good);
  for (const std::string bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xE0\x9F\xBF", "\xE2\x82",
                                "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
                                "\xE2\x82"
                                "a"})
    EXPECT_FALSE(detail::is_utf8(bad)) << testing::PrintToString(bad);
}

}  // namespace
}  // namespace headwise::io::write_safetensors_test
