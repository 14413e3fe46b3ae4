// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/io/llama.hpp>
#include <headwise/model/generate.hpp>

#include <gtest/gtest.h>

#include "io/model_copy.hpp"
#include "support/check.hpp"
#include "support/golden.hpp"
#include "support/thrown.hpp"

#include <string>
#include <variant>
#include <vector>

namespace headwise::io {
namespace {

namespace hw = headwise;

using check::near;
using check::thrown;

check::ModelCopy copy() {
  const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
  return {golden::small_copy() / "models" / "llama_tiny", std::string("llama_loader_") + test->name()};
}

std::string refusal(const check::ModelCopy& folder) {
  std::string text = thrown<FormatError>([&] { (void)load_llama<float>(folder.path()); });
  if (text.starts_with(folder.path())) text.erase(0, folder.path().size());
  return text;
}

TEST(LlamaLoader, MakesAModelThatWrites) {
  const auto original = copy();
  const std::string folder = original.path();
  // [docs model/published]
  const auto decoder = hw::io::load_llama<float>(folder);  // config.json and model.safetensors
  const std::vector<hw::TokenId> prompt = {1, 2, 3};
  const auto text = hw::model::generate_greedy(decoder, prompt, {.new_tokens = 4});
  // [docs end]
  ASSERT_EQ(text.size(), 4u);
  const Matrix<float> logits = decoder(prompt).bottomRows(1);
  EXPECT_EQ(logits(0, text.front()), logits.maxCoeff());
}

TEST(LlamaLoader, RefusesSettingsItDoesNotKnow) {
  const auto folder = copy();
  folder.edit_config("\"silu\"", "\"foo\"");
  EXPECT_EQ(refusal(folder),
            "/config.json: hidden_act: is 'foo', expected 'relu', 'gelu', 'gelu_new', 'gelu_pytorch_tanh', "
            "'gelu_fast', 'silu' or 'swish'");
  folder.edit_config("\"foo\"", "\"silu\"");
  folder.edit_config("\"rope_type\": \"default\"", "\"rope_type\": \"bar\"");
  EXPECT_EQ(refusal(folder),
            "/config.json: rope_type: is 'bar', expected 'default', 'linear', 'dynamic', 'llama3', 'yarn' or "
            "'longrope'");
  folder.edit_config("\"llama\"", "\"mistral\"");
  EXPECT_EQ(refusal(folder), "/config.json: model_type: is 'mistral', expected 'llama'");
}

TEST(LlamaLoader, RefusesSizesThatAreNone) {
  const auto folder = copy();
  folder.edit_config("\"num_attention_heads\": 4", "\"num_attention_heads\": 0");
  EXPECT_EQ(refusal(folder), "/config.json: num_attention_heads: is 0, expected a positive number");
  folder.edit_config("\"num_attention_heads\": 0", "\"num_attention_heads\": 4");
  folder.edit_config("\"vocab_size\": 41", "\"vocab_size\": 1000000000000");
  EXPECT_EQ(
      refusal(folder),
      "/config.json: vocab_size: is 1000000000000, expected at most 18144, the numbers in model.safetensors");
}

TEST(LlamaLoader, NamesTensorsThatDoNotFitTheConfig) {
  const auto folder = copy();
  folder.edit_config("\"intermediate_size\": 48", "\"intermediate_size\": 50");
  const std::string text = refusal(folder);
  EXPECT_NE(text.find("'model.layers.0.mlp.gate_proj.weight' is F32 [48, 32], expected [50, 32]"), text.npos)
      << text;
  EXPECT_NE(text.find("'model.layers.1.mlp.down_proj.weight'"), text.npos) << text;
}

TEST(LlamaLoader, NamesAFileThatIsMissing) {
  const auto folder = copy();
  folder.remove_file("model.safetensors");
  EXPECT_EQ(refusal(folder), "/model.safetensors: cannot be opened: No such file or directory");
  folder.write_file("model.safetensors.index.json", "{}");
  EXPECT_EQ(refusal(folder),
            "/model.safetensors.index.json: lists weights split over several files, expected one "
            "model.safetensors; "
            "join them first");
}

TEST(LlamaLoader, B139_AnUntiedHeadMustBeThere) {
  const auto folder = copy();
  folder.edit_weights([](const std::string& name) { return name != "lm_head.weight"; });
  const std::string text = refusal(folder);
  EXPECT_NE(text.find("missing:\n    'lm_head.weight' for head.weight [41, 32]"), text.npos) << text;
}

TEST(LlamaLoader, B140_ATiedHeadMayBeStoredTwice) {
  const auto folder = copy();
  folder.edit_config("\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true");
  folder.edit_weights([](const std::string& name) { return name != "lm_head.weight"; },
                      {{"lm_head.weight", "model.embed_tokens.weight"}});
  const std::vector<TokenId> ids{1, 2, 3};
  const Matrix<float> both = load_llama<float>(folder.path())(ids);
  folder.edit_weights([](const std::string& name) { return name != "lm_head.weight"; });
  EXPECT_TRUE(near(load_llama<float>(folder.path())(ids), both, 0));
}

TEST(LlamaLoader, ReadsRotarySettingsOldAndNew) {
  const auto folder = copy();
  const auto options = [&] { return load_llama<float>(folder.path()).options().rotary->options(); };
  folder.edit_config("\"rope_theta\": 10000.0", "\"rope_theta\": 500.0");
  EXPECT_EQ(options().theta, 500);

  folder.edit_config("\"rope_parameters\"", "\"rope_theta\": 70.0, \"rope_scaling\"");
  folder.edit_config("\"rope_theta\": 500.0,", "");
  folder.edit_config("\"rope_type\": \"default\"", "\"type\": \"linear\", \"factor\": 4.0");
  EXPECT_EQ(options().theta, 70);
  ASSERT_TRUE(std::holds_alternative<position::LinearScaling>(options().scaling));
  EXPECT_EQ(std::get<position::LinearScaling>(options().scaling).factor, 4);

  folder.edit_config("\"type\": \"linear\"",
                     "\"rope_type\": \"yarn\", \"original_max_position_embeddings\": 16");
  ASSERT_TRUE(std::holds_alternative<position::YarnScaling>(options().scaling));
  EXPECT_EQ(std::get<position::YarnScaling>(options().scaling).trained_len, 16);
  EXPECT_FALSE(std::get<position::YarnScaling>(options().scaling).attention_factor);
}

}  // namespace
}  // namespace headwise::io
