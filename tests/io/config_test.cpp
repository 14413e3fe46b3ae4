#include <headwise/io/config.hpp>

#include <gtest/gtest.h>

#include "support/thrown.hpp"

#include <filesystem>
#include <fstream>

namespace headwise::io {
namespace {

using check::thrown;

const Config& llama() {
  static const Config config = Config::parse(R"({
    "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "rms_norm_eps": 1e-05, "vocab_size": 1000,
    "tie_word_embeddings": true, "pad_token_id": null, "hidden_act": "silu", "negative": -3, "half": 0.5,
    "whole": 7.0, "large": 9223372036854775807, "larger": 9223372036854775808, "sizes": [1, 2, 3], "mixed": [1, "2"],
    "rope_parameters": {"rope_type": "yarn", "rope_theta": 10000.0, "factors": [1.0, 2.5, 3], "inner": {"deep": [true]}}
  })",
                                             "config.json");
  return config;
}

TEST(Config, AnswersInTheKindThatIsAsked) {
  EXPECT_EQ(llama().integer("hidden_size"), 64);
  EXPECT_EQ(llama().integer("negative"), -3);
  EXPECT_EQ(llama().integer("large"), 9223372036854775807);
  EXPECT_EQ(llama().number("rms_norm_eps"), 1e-5);
  EXPECT_EQ(llama().number("hidden_size"), 64.0);
  EXPECT_EQ(llama().text("hidden_act"), "silu");
  EXPECT_TRUE(llama().boolean("tie_word_embeddings"));
  EXPECT_EQ(llama().texts("architectures"), std::vector<std::string>{"LlamaForCausalLM"});
  EXPECT_EQ(llama().integers("sizes"), (std::vector<Index>{1, 2, 3}));
}

TEST(Config, ReadsObjectsWithin) {
  const Config rope = llama().object("rope_parameters");
  EXPECT_EQ(rope.text("rope_type"), "yarn");
  EXPECT_EQ(rope.number("rope_theta"), 10000);
  EXPECT_EQ(rope.numbers("factors"), (std::vector<double>{1, 2.5, 3}));
}

TEST(Config, MissingAndNullTakeTheDefault) {
  EXPECT_EQ(llama().integer("pad_token_id", -1), -1);
  EXPECT_EQ(llama().integer("head_dim", 16), 16);
  EXPECT_EQ(llama().number("dropout", 0.25), 0.25);
  EXPECT_EQ(llama().text("model_type", "llama"), "llama");
  EXPECT_TRUE(llama().boolean("use_cache", true));
  EXPECT_FALSE(llama().contains("pad_token_id"));
  EXPECT_FALSE(llama().contains("head_dim"));
  EXPECT_TRUE(llama().contains("hidden_size"));
}

TEST(Config, NamesFileKeyFoundAndExpected) {
  const auto error = [](auto ask) { return thrown<FormatError>([&] { (void)ask(llama()); }); };
  EXPECT_EQ(error([](const Config& c) { return c.integer("n_head"); }),
            "config.json: n_head: is missing, expected an integer");
  EXPECT_EQ(error([](const Config& c) { return c.integer("pad_token_id"); }),
            "config.json: pad_token_id: is missing, expected an integer");
  EXPECT_EQ(error([](const Config& c) { return c.integer("half"); }),
            "config.json: half: is 0.500000, expected an integer");
  EXPECT_EQ(error([](const Config& c) { return c.integer("whole"); }),
            "config.json: whole: is 7.000000, expected an integer");
  EXPECT_EQ(error([](const Config& c) { return c.integer("larger"); }),
            "config.json: larger: is 9223372036854775808, expected an integer");
  EXPECT_EQ(error([](const Config& c) { return c.number("hidden_act"); }),
            "config.json: hidden_act: is 'silu', expected a number");
  EXPECT_EQ(error([](const Config& c) { return c.boolean("hidden_size"); }),
            "config.json: hidden_size: is 64, expected true or false");
  EXPECT_EQ(error([](const Config& c) { return c.text("sizes"); }),
            "config.json: sizes: is an array, expected a text");
  EXPECT_EQ(error([](const Config& c) { return c.object("hidden_act"); }),
            "config.json: hidden_act: is 'silu', expected an object");
  EXPECT_EQ(error([](const Config& c) { return c.integers("mixed"); }),
            "config.json: mixed[1]: is '2', expected an integer");
  EXPECT_EQ(error([](const Config& c) { return c.texts("hidden_act"); }),
            "config.json: hidden_act: is 'silu', expected a list");
  EXPECT_EQ(error([](const Config& c) { return c.object("rope_parameters").integer("rope_theta"); }),
            "config.json: rope_parameters.rope_theta: is 10000.000000, expected an integer");
  EXPECT_EQ(
      error([](const Config& c) { return c.object("rope_parameters").object("inner").integers("deep"); }),
      "config.json: rope_parameters.inner.deep[0]: is true, expected an integer");
}

TEST(Config, ADefaultDoesNotExcuseTheWrongKind) {
  EXPECT_EQ(thrown<FormatError>([] { (void)llama().integer("hidden_act", 3); }),
            "config.json: hidden_act: is 'silu', expected an integer");
  EXPECT_EQ(thrown<FormatError>([] { (void)llama().boolean("hidden_size", false); }),
            "config.json: hidden_size: is 64, expected true or false");
}

TEST(Config, RefusesWhatIsNotAnObjectOfJson) {
  const auto error = [](const std::string& text) {
    return thrown<FormatError>([&] { (void)Config::parse(text, "c"); });
  };
  EXPECT_EQ(error("[1]"), "c: is an array, expected an object");
  EXPECT_EQ(error("7"), "c: is 7, expected an object");
  EXPECT_EQ(error(""), "c: text before byte 0: is not JSON in UTF-8");
  EXPECT_EQ(error("{\"a\":1,}"), "c: text before byte 8: is not JSON in UTF-8");
  EXPECT_EQ(error("{\"a\":NaN}"), "c: text before byte 6: is not JSON in UTF-8");
  EXPECT_EQ(error(std::string("{}\0", 3)), "c: byte 2: is NUL, expected JSON; padding is spaces");
  EXPECT_EQ(error("{\"a\":" + std::string(100'000, '[')), "c: text before byte 38: nests deeper than 32");
}

TEST(Config, ReadsAFile) {
  const std::string path = (std::filesystem::temp_directory_path() / "headwise_config_test.json").string();
  std::ofstream(path) << R"({"num_attention_heads": 12, "rope_parameters": {"rope_theta": 500000}})";
  // [docs io/config]
  const auto config = io::Config::load(path);
  const Index heads = config.integer("num_attention_heads");
  const Index kv_heads = config.integer("num_key_value_heads", heads);
  const double theta = config.object("rope_parameters").number("rope_theta", 10000);
  // [docs end]
  EXPECT_EQ(heads, 12);
  EXPECT_EQ(kv_heads, 12);
  EXPECT_EQ(theta, 500000);
  std::filesystem::remove(path);
  EXPECT_EQ(thrown<FormatError>([&] { (void)Config::load(path); }),
            path + ": cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace headwise::io
