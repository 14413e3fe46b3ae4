#include <headwise/io/state_dict.hpp>

#include <gtest/gtest.h>

#include "io/small_model.hpp"
#include "support/thrown.hpp"

#include <filesystem>

namespace headwise::io {
namespace {

using check::Model;
using check::Tensors;
using check::thrown;
using check::whole;

TEST(TensorSource, ANameMapTellsFusedAndTransposedTensorsApart) {
  Tensors tensors;
  tensors.add("wte.weight", {3, 2}, 500)
      .add("attn.c_attn.weight", {2, 12}, 0)
      .add("attn.c_attn.bias", {12}, 100);
  const SafeTensors file = tensors.file();
  Model<float> model;
  // [docs io/state_dict]
  // GPT-2 stores query, key and value in one weight [in, 3 * out]; ours are three, each [out, in].
  const auto gpt2_name = [](std::string_view name) -> io::TensorSource {
    if (name == "embedding.weight") return {.name = "wte.weight"};
    const Index part = name.starts_with("query") ? 0 : 1;
    if (name.ends_with("bias")) return {.name = "attn.c_attn.bias", .outputs = io::fused_part(part, 4)};
    return {.name = "attn.c_attn.weight", .outputs = io::fused_part(part, 4), .transposed = true};
  };

  const io::LoadReport report = io::load_state_dict(model, file, gpt2_name, {.ignored = {"*.position_ids"}});
  // [docs end]
  EXPECT_EQ(report.parameters, 5);
  for (Index out = 0; out < 4; ++out) {
    EXPECT_EQ(model.query_bias.value(0, out), 100.0f + float(out));
    EXPECT_EQ(model.key_bias.value(0, out), 104.0f + float(out));
    for (Index in = 0; in < 2; ++in) {
      EXPECT_EQ(model.query.value(out, in), float(12 * in + out));
      EXPECT_EQ(model.key.value(out, in), float(12 * in + 4 + out));
    }
  }
}

TEST(TensorSource, PartsStackedInRows) {
  Tensors tensors;
  tensors.add("embedding.weight", {3, 2}, 500)
      .add("in_proj_weight", {12, 2}, 0)
      .add("in_proj_bias", {12}, 100);
  Model<float> model;
  load_state_dict(model, tensors.file(), [](std::string_view name) -> TensorSource {
    if (name.starts_with("embedding")) return {.name = std::string(name)};
    const std::string stored = name.ends_with("bias") ? "in_proj_bias" : "in_proj_weight";
    return {.name = stored, .outputs = fused_part(name.starts_with("query") ? 0 : 1, 4)};
  });
  for (Index out = 0; out < 4; ++out) {
    EXPECT_EQ(model.key_bias.value(0, out), 104.0f + float(out));
    for (Index in = 0; in < 2; ++in) EXPECT_EQ(model.key.value(out, in), float(2 * (4 + out) + in));
  }
}

TEST(TensorSource, PartsFusedHeadByHead) {
  // Two heads of 2: rows are q0 q0 k0 k0 v0 v0 q1 q1 k1 k1 v1 v1.
  Tensors tensors;
  tensors.add("embedding.weight", {3, 2}, 500)
      .add("query_key_value.weight", {12, 2}, 0)
      .add("query_key_value.bias", {12}, 100);
  Model<float> model;
  load_state_dict(model, tensors.file(), [](std::string_view name) -> TensorSource {
    if (name.starts_with("embedding")) return {.name = std::string(name)};
    const std::string stored = name.ends_with("bias") ? "query_key_value.bias" : "query_key_value.weight";
    return {.name = stored, .outputs = part_of_each_head(name.starts_with("query") ? 0 : 1, 3, 2, 2)};
  });
  const Index key_rows[4] = {2, 3, 8, 9}, query_rows[4] = {0, 1, 6, 7};
  for (Index out = 0; out < 4; ++out) {
    EXPECT_EQ(model.query_bias.value(0, out), 100.0f + float(query_rows[out]));
    EXPECT_EQ(model.key_bias.value(0, out), 100.0f + float(key_rows[out]));
    for (Index in = 0; in < 2; ++in) {
      EXPECT_EQ(model.query.value(out, in), float(2 * query_rows[out] + in));
      EXPECT_EQ(model.key.value(out, in), float(2 * key_rows[out] + in));
    }
  }
}

TEST(TensorSource, OutputsThatTheTensorDoesNotHaveAreNamed) {
  Tensors tensors = whole();
  Model<float> model;
  const auto text = thrown<FormatError>([&] {
    load_state_dict(model, tensors.file(), [](std::string_view name) -> TensorSource {
      if (name == "key.bias") return {.name = "key.bias", .outputs = {{0, 3}, {4, 5}}};
      if (name == "key.weight") return {.name = "key.weight", .outputs = {{-1, 3}}};
      if (name == "query.weight") return {.name = "query.weight", .outputs = {{0, 4}}, .transposed = true};
      if (name == "query.bias") return {.name = "query.bias", .outputs = {{1, 4}}};
      return {.name = std::string(name)};
    });
  });
  EXPECT_EQ(text,
            "file: the file does not fit the model\n"
            "  wrong shape or type:\n"
            "    'query.weight' is F32 [4, 2], expected outputs 0 to 4 for query.weight [4, 2]\n"
            "    'query.bias' is F32 [4], which gives [1, 3], expected [1, 4] for query.bias\n"
            "    'key.weight' is F32 [4, 2], expected outputs -1 to 3 for key.weight [4, 2]\n"
            "    'key.bias' is F32 [4], expected outputs 4 to 5 for key.bias [1, 4]");
}

TEST(TensorSource, ReshapedTensorsKeepTheirNumbersRowByRow) {
  Tensors tensors = whole();
  Model<float> model;
  tensors.add("r_w_bias", {2, 2}, 900);
  load_state_dict(model, tensors.file(),
                  [](std::string_view name) -> TensorSource {
                    if (name == "key.bias") return {.name = "r_w_bias", .reshaped = true};
                    return {.name = std::string(name)};
                  },
                  {.ignored = {"key.bias"}});
  for (Index i = 0; i < 4; ++i) EXPECT_EQ(model.key_bias.value(0, i), 900.0f + float(i));
}

struct OneRow {
  Parameter<float> row{Matrix<float>::Zero(1, 8192)};
  void for_each_parameter(auto&& visit) { visit("row", row); }
};

TEST(TensorSource, StretchesBeyondFourGigabytesAreReached) {
  // [262144, 8192] floats are 8 GB, nearly all of it a hole in the file that takes no room on the disk.
  const std::string path =
      (std::filesystem::temp_directory_path() / "headwise_tensor_source_test_sparse").string();
  const std::string header =
      R"({"table":{"dtype":"F32","shape":[262144,8192],"data_offsets":[0,8589934592]}}     )";
  const check::Bytes start = check::file_of(header);
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ASSERT_GE(descriptor, 0);
  const off_t size = off_t(start.size()) + (off_t(1) << 33);
  const float last = 42;
  const bool written =
      ::pwrite(descriptor, start.data(), start.size(), 0) == ssize_t(start.size()) &&
      ::pwrite(descriptor, &last, sizeof last, size - off_t(sizeof last)) == ssize_t(sizeof last);
  ::close(descriptor);
  if (!written) {
    std::filesystem::remove(path);
    GTEST_SKIP() << "offsets beyond 4 GB are not checked: the temporary folder holds no file of 8 GB";
  }

  OneRow model;
  load_state_dict(model, SafeTensors(path), [](std::string_view) -> TensorSource {
    return {.name = "table", .outputs = {{262143, 262144}}};
  });
  std::filesystem::remove(path);
  EXPECT_EQ(model.row.value(0, 8191), 42.0f);
  EXPECT_EQ(model.row.value(0, 8190), 0.0f);
}

}  // namespace
}  // namespace headwise::io
