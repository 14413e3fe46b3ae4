#include "support/golden.hpp"

#include <cmath>
#include <fstream>
#include <limits>

namespace headwise::golden {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Tensor vector(std::vector<double> values) {
  const Index size = Index(values.size());
  return {{size}, std::move(values)};
}

TEST(Golden, MatchAllowsTheToleranceAndNoMore) {
  EXPECT_TRUE(match(vector({1.0, 100.5}), vector({1.0, 100.0}), {.abs = 0.4, .rel = 0.001}));
  EXPECT_FALSE(match(vector({1.0, 100.6}), vector({1.0, 100.0}), {.abs = 0.4, .rel = 0.001}));
}

TEST(Golden, MatchTakesEqualInfinitiesOnly) {
  EXPECT_TRUE(match(vector({-inf, inf}), vector({-inf, inf}), {}));
  EXPECT_FALSE(match(vector({inf}), vector({-inf}), {.abs = 1, .rel = 1}));
  EXPECT_FALSE(match(vector({1e300}), vector({inf}), {.abs = 1, .rel = 1}));
  EXPECT_FALSE(match(vector({inf}), vector({1e300}), {.abs = 1, .rel = 1}));
}

TEST(Golden, MatchNeverTakesNaN) {
  EXPECT_FALSE(match(vector({nan}), vector({nan}), {.abs = inf, .rel = 0}));
  EXPECT_FALSE(match(vector({nan}), vector({0}), {.abs = inf, .rel = 0}));
  EXPECT_FALSE(match(vector({0}), vector({nan}), {.abs = inf, .rel = 0}));
}

TEST(Golden, MatchNamesShapesAndTheWorstPlace) {
  EXPECT_STREQ(match(Tensor({1, 2}, {1, 2}), vector({1, 2}), {}).message(), "shape [1, 2], expected [2]");
  EXPECT_STREQ(
      match(Tensor({2, 2}, {1, 5, 1, 9}), Tensor({2, 2}, {1, 4, 1, 4}), {.abs = 0.5, .rel = 0}).message(),
      "2 of 4 values differ, most at [1, 1]: 9, expected 4, tolerance 0.5");
}

TEST(Golden, HeadsBecomeColumnBlocksAndBack) {
  std::vector<double> values(2 * 3 * 4 * 5);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = double(i);
  const Tensor tensor({2, 3, 4, 5}, values);

  const Matrix<double> packed = as_heads(tensor);

  ASSERT_EQ(packed.rows(), 2 * 4);
  ASSERT_EQ(packed.cols(), 3 * 5);
  EXPECT_EQ(packed(1 * 4 + 2, 2 * 5 + 3), tensor.at(1, 2, 2, 3));
  EXPECT_TRUE(match(from_heads(packed, 2, 3), tensor, {}));
}

TEST(Golden, BroadcastFollowsTheLastAxes) {
  const Tensor pad({2, 1, 1, 3}, {0, 1, 2, 3, 4, 5}), square({2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(pad.broadcast(1, 7, 9, 2), 5);
  EXPECT_EQ(square.broadcast(7, 7, 1, 0), 3);
  EXPECT_THROW((void)square.broadcast(0, 0, 2, 0), std::out_of_range);
}

TEST(Golden, ReadsTheFourTypes) {
  const std::string header =
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"I64","shape":[],"data_offsets":[4,12]},)"
      R"("c":{"dtype":"U8","shape":[2,1],"data_offsets":[12,14]},"d":{"dtype":"F64","shape":[1],"data_offsets":[14,22]}})";
  std::string bytes(8, '\0');
  bytes[0] = char(header.size());
  bytes += header;
  const unsigned char data[22] = {0,    0, 0x80, 0x3f, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                  0xff, 1, 255,  0,    0,    0,    0,    0,    0,    0xe0, 0x3f};
  for (unsigned char byte : data) bytes.push_back(char(byte));
  const auto file = std::filesystem::path(testing::TempDir()) / "headwise_golden_types.safetensors";
  std::ofstream(file, std::ios::binary) << bytes;

  auto tensors = read_safetensors(file);
  std::filesystem::remove(file);

  EXPECT_EQ(tensors.at("a").at(0), 1.0);
  EXPECT_EQ(tensors.at("b").values()[0], -2.0);
  EXPECT_EQ(tensors.at("c").at(1, 0), 255.0);
  EXPECT_EQ(tensors.at("d").at(0), 0.5);
}

TEST(Golden, AModelCaseKnowsItsWeights) {
  const auto models = cases_in(small_copy(), "llama");
  ASSERT_FALSE(models.empty());
  EXPECT_FALSE(read_safetensors(models[0].weights_file()).empty());
  EXPECT_TRUE(std::filesystem::exists(models[0].config_file()));
}

TEST(Golden, AMissingTensorIsNamed) {
  const auto found = cases_in(small_copy(), "sinusoid");
  ASSERT_FALSE(found.empty());
  try {
    (void)found[0].tensor("out.nothing");
    FAIL() << "found a tensor that is not there";
  } catch (const std::out_of_range& error) {
    EXPECT_EQ(std::string(error.what()), "golden case " + found[0].name() + " has no tensor out.nothing");
  }
}

}  // namespace
}  // namespace headwise::golden
