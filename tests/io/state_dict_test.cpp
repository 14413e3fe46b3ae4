#include <headwise/io/state_dict.hpp>

#include <gtest/gtest.h>

#include "io/small_model.hpp"
#include "support/thrown.hpp"

#include <filesystem>

namespace headwise::io::state_dict_test {
namespace {

using check::Model;
using check::Tensors;
using check::thrown;
using check::whole;
using Strings = std::vector<std::string>;

std::string scratch(const std::string& name) {
  return (std::filesystem::temp_directory_path() / ("headwise_state_dict_test_" + name)).string();
}

TEST(StateDict, ReadsEveryParameterUnderItsName) {
  Tensors tensors = whole();
  Model<double> model;
  const LoadReport report = load_state_dict(model, tensors.file());

  EXPECT_EQ(report.parameters, 5);
  for (Index i = 0; i < 4; ++i) {
    EXPECT_EQ(model.query_bias.value(0, i), 200.0 + double(i));
    for (Index j = 0; j < 2; ++j) EXPECT_EQ(model.key.value(i, j), 300.0 + double(2 * i + j));
  }
  EXPECT_EQ(model.embedding.value(2, 1), 505);
}

TEST(StateDict, ListsAllThatDoesNotFitAtOnceAndTouchesNothing) {
  Tensors tensors;
  tensors.add("query.weight", {2, 4}, 100)
      .add("key.weight", {4, 2}, 300)
      .add("key.bias", {4}, 0, "I32")
      .add("embedding.weight", {4, 2}, 500)
      .add("pooler.dense.weight", {2, 2}, 0)
      .add("position_ids", {1, 3}, 0, "I32");
  Model<float> model;
  EXPECT_EQ(thrown<FormatError>([&] { load_state_dict(model, tensors.file()); }),
            "file: the file does not fit the model\n"
            "  missing:\n"
            "    'query.bias' for query.bias [1, 4]\n"
            "  wrong shape or type:\n"
            "    'query.weight' is F32 [2, 4], expected [4, 2] for query.weight\n"
            "    'key.bias' is I32 [4], expected floating-point numbers for key.bias [1, 4]\n"
            "    'embedding.weight' is F32 [4, 2], expected [3, 2] for embedding.weight\n"
            "  surplus (name it in LoadOptions::ignored if it is not needed):\n"
            "    'pooler.dense.weight' F32 [2, 2]\n"
            "    'position_ids' I32 [1, 3]");
  EXPECT_TRUE(model.key.value.isZero(0));
}

TEST(StateDict, PassesOverNamesThatFitAPattern) {
  Tensors tensors = whole();
  tensors.add("encoder.position_ids", {1, 3}, 0, "I32")
      .add("cls.bias", {2}, 0)
      .add("cls.decoder.bias", {2}, 0);
  Model<float> model;
  const LoadReport report = load_state_dict(model, tensors.file(), {.ignored = {"*.position_ids", "cls.*"}});
  EXPECT_EQ(report.ignored, (Strings{"cls.bias", "cls.decoder.bias", "encoder.position_ids"}));
}

TEST(StateDict, AStarStandsForAnyText) {
  EXPECT_TRUE(matches("a", "a"));
  EXPECT_FALSE(matches("a", "ab"));
  EXPECT_FALSE(matches("a", ""));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("h.*.attn.bias", "h.11.attn.bias"));
  EXPECT_FALSE(matches("h.*.attn.bias", "h.11.attn.c_attn.bias"));
  EXPECT_TRUE(matches("*.bias", "a.bias.bias"));
  EXPECT_TRUE(matches("a*b*c", "abbc"));
  EXPECT_FALSE(matches("a*b*c", "acb"));
}

TEST(StateDict, AParameterWithoutASourceKeepsItsNumbers) {
  Tensors tensors = whole();
  Model<float> model;
  model.key.value.setConstant(7);
  const LoadReport report = load_state_dict(
      model, tensors.file(),
      [](std::string_view name) { return name == "key.weight" ? std::string() : std::string(name); },
      {.ignored = {"key.weight"}});
  EXPECT_EQ(report.kept, Strings{"key.weight"});
  EXPECT_EQ(report.parameters, 4);
  EXPECT_EQ(model.key.value(3, 1), 7);
}

/// A language model whose output layer is the embedding, or a matrix of its own.
struct Language {
  bool tied = true;
  Parameter<float> embedding{Matrix<float>::Zero(3, 2)}, lm_head{Matrix<float>::Zero(3, 2)};

  void for_each_parameter(auto&& visit) {
    visit("wte.weight", embedding);
    if (!tied) visit("lm_head.weight", lm_head);
  }
};

TEST(StateDict, B139_AnUntiedModelNamesTheOutputLayerThatIsMissing) {
  Tensors tensors;
  tensors.add("wte.weight", {3, 2}, 0);
  Language model{.tied = false};
  EXPECT_EQ(thrown<FormatError>([&] { load_state_dict(model, tensors.file()); }),
            "file: the file does not fit the model\n"
            "  missing:\n"
            "    'lm_head.weight' for lm_head.weight [3, 2]");
}

TEST(StateDict, B140_ATiedModelLoadsAndReportsTheStoredDuplicate) {
  const LoadOptions tied{.ties = {{"wte.weight", "lm_head.weight"}}};
  for (const float first : {0.0f, 1.0f}) {
    Tensors tensors;
    tensors.add("wte.weight", {3, 2}, 0).add("lm_head.weight", {3, 2}, first);
    Language model;
    const LoadReport report = load_state_dict(model, tensors.file(), tied);
    ASSERT_EQ(report.duplicates.size(), 1u);
    EXPECT_EQ(report.duplicates[0].name, "lm_head.weight");
    EXPECT_EQ(report.duplicates[0].of, "wte.weight");
    EXPECT_EQ(report.duplicates[0].identical, first == 0.0f);
    EXPECT_EQ(model.embedding.value(0, 1), 1);
  }
}

TEST(StateDict, ATiedMatrixIsReadUnderWhicheverNameItHas) {
  Tensors tensors;
  tensors.add("lm_head.weight", {3, 2}, 10);
  Language model;
  const LoadReport report =
      load_state_dict(model, tensors.file(), {.ties = {{"wte.weight", "lm_head.weight"}}});
  EXPECT_EQ(model.embedding.value(2, 1), 15);
  EXPECT_TRUE(report.duplicates.empty());
}

TEST(StateDict, ATieDoesNotExcuseATensorThatNothingUses) {
  Tensors tensors = whole();
  tensors.add("a", {1}, 0).add("b", {1}, 0);
  Model<float> model;
  EXPECT_THROW(load_state_dict(model, tensors.file(), {.ties = {{"a", "b"}}}), FormatError);
}

TEST(StateDict, WhatIsSavedIsLoadedBitForBit) {
  Model<double> model;
  double number = 0.1;
  model.for_each_parameter([&](std::string_view, auto& parameter) {
    for (Index i = 0; i < parameter.value.size(); ++i) parameter.value.data()[i] = number *= -1.1;
  });
  const std::string path = scratch("saved");
  save_state_dict(std::as_const(model), path, {{"step", "12"}});

  const SafeTensors file(path);
  EXPECT_EQ(file.names(),
            (Strings{"embedding.weight", "key.bias", "key.weight", "query.bias", "query.weight"}));
  EXPECT_EQ(file.info("key.bias").shape, (std::vector<Index>{1, 4}));
  EXPECT_EQ(file.metadata().at("step"), "12");
  Model<double> read;
  load_state_dict(read, file);
  EXPECT_EQ(read.query.value, model.query.value);
  EXPECT_EQ(read.query_bias.value, model.query_bias.value);
  EXPECT_EQ(read.embedding.value, model.embedding.value);

  Model<float> narrow;
  load_state_dict(narrow, file);
  EXPECT_EQ(narrow.key.value(3, 1), float(model.key.value(3, 1)));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace headwise::io::state_dict_test
