// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/io/gguf_llama.hpp>

#include <gtest/gtest.h>

#include "io/gguf_bytes.hpp"
#include "layer/parameters.hpp"
#include "support/published.hpp"
#include "support/thrown.hpp"

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace headwise::io::gguf_llama_test {
namespace {

using check::GgufBytes;
using check::thrown;

constexpr std::uint32_t u32 = 4, f32_number = 6, f32 = 0;

model::DecoderOptions small() {
  return {
      .vocab_size = 7,
      .d_model = 8,
      .layers = 2,
      .heads = 4,
      .kv_heads = 2,
      .head_dim = 2,
      .d_ff = 12,
      .rotary = position::Rotary({.head_dim = 2, .theta = 500, .pairing = position::Pairing::interleaved}),
      .norm = layer::NormKind::rms,
      .norm_eps = 1e-5,
      .activation = layer::Activation::silu,
      .gated = true,
      .input_bias = false,
      .output_bias = false,
      .feed_forward_bias = false};
}

/// A file of that model, whose settings and tensors a test may change before it is written.
struct Model {
  std::map<std::string, std::uint32_t> numbers{{"llama.block_count", 2},
                                               {"llama.embedding_length", 8},
                                               {"llama.feed_forward_length", 12},
                                               {"llama.attention.head_count", 4},
                                               {"llama.attention.head_count_kv", 2}};
  std::map<std::string, std::string> texts{{"general.architecture", "llama"}};
  std::map<std::string, float> floats{{"llama.attention.layer_norm_rms_epsilon", 1e-5f},
                                      {"llama.rope.freq_base", 500}};
  std::map<std::string, Matrix<float>> tensors;

  explicit Model(const model::Decoder<float>& decoder) {
    decoder.for_each_parameter([&](std::string_view name, const auto& parameter) {
      tensors[detail::gguf_llama_name(name)] = parameter.value;
    });
  }

  GgufBytes bytes() const {
    GgufBytes bytes;
    bytes.header(tensors.size(), numbers.size() + texts.size() + floats.size());
    for (const auto& [key, value] : numbers) bytes.entry(key, u32, value);
    for (const auto& [key, value] : texts) bytes.text_entry(key, value);
    for (const auto& [key, value] : floats) bytes.entry(key, f32_number, value);
    std::uint64_t offset = 0;
    for (const auto& [name, value] : tensors) {
      const std::vector<std::uint64_t> dims =
          value.rows() == 1 ? std::vector{std::uint64_t(value.cols())}
                            : std::vector{std::uint64_t(value.cols()), std::uint64_t(value.rows())};
      bytes.tensor(name, dims, f32, offset);
      offset += (std::uint64_t(value.size()) * 4 + 31) / 32 * 32;
    }
    for (const auto& entry : tensors) {
      bytes.pad();
      for (const float x : entry.second.reshaped<Eigen::RowMajor>()) bytes.number(x);
    }
    return bytes;
  }
};

model::Decoder<float> made() {
  model::Decoder<float> decoder(small(), layer::Initial::zeros());
  check::randomise(decoder, 3);
  return decoder;
}

/// Every number of a model, by name, whatever holds it.
std::map<std::string, Matrix<float>> numbers_of(const auto& decoder) {
  std::map<std::string, Matrix<float>> numbers;
  decoder.for_each_parameter([&](std::string_view name, const auto& parameter) {
    if constexpr (requires { parameter.value; }) {
      numbers[std::string(name)] = parameter.value;
    } else {
      numbers[std::string(name)] = parameter.matrix();
    }
  });
  return numbers;
}

TEST(GgufLlama, IsTheDecoderThatWasWritten) {
  const auto decoder = made();
  const GgufBytes bytes = Model(decoder).bytes();
  const Gguf file = bytes.open();
  const auto loaded = published::load_llama_gguf<float>(file);
  EXPECT_EQ(numbers_of(loaded), numbers_of(decoder));
  EXPECT_EQ(numbers_of(published::load_stored_llama(file)), numbers_of(decoder));

  const model::DecoderOptions &got = loaded.options(), expected = small();
  EXPECT_EQ(got.heads, expected.heads);
  EXPECT_EQ(got.kv_heads, expected.kv_heads);
  EXPECT_EQ(got.head_dim, expected.head_dim);
  EXPECT_EQ(got.norm, layer::NormKind::rms);
  EXPECT_NEAR(got.norm_eps, 1e-5, 1e-11);  // stored in float
  EXPECT_EQ(got.activation, layer::Activation::silu);
  EXPECT_TRUE(got.gated);
  EXPECT_TRUE(got.tied_head);
  EXPECT_EQ(got.rotary->options().theta, 500);
  EXPECT_EQ(got.rotary->options().pairing, position::Pairing::interleaved);
}

TEST(GgufLlama, RoundsMatricesAndLeavesNorms) {
  const auto decoder = made();
  auto expected = numbers_of(decoder);
  for (auto& entry : expected) {
    if (entry.second.rows() == 1) continue;
    for (float& x : entry.second.reshaped()) x = float_from_half(half_from_float(x));
  }
  const GgufBytes bytes = Model(decoder).bytes();
  EXPECT_EQ(numbers_of(published::load_stored_llama(bytes.open(), stored::Format::f16)), expected);
}

std::string refusal(const std::function<void(Model&)>& change) {
  Model model(made());
  change(model);
  const GgufBytes bytes = model.bytes();
  return thrown<FormatError>([&] { (void)published::load_stored_llama(bytes.open()); });
}

TEST(GgufLlama, RefusesSettingsThatItDoesNotHave) {
  EXPECT_EQ(refusal([](Model& m) { m.texts["general.architecture"] = "qwen2"; }),
            "file: metadata 'general.architecture' at byte 223: is 'qwen2', expected 'llama'");
  EXPECT_EQ(refusal([](Model& m) { m.numbers["llama.expert_count"] = 8; }).substr(0, 42),
            "file: metadata 'llama.expert_count' at byt");
  EXPECT_NE(refusal([](Model& m) {
              m.texts["llama.rope.scaling.type"] = "yarn";
            }).find("is 'yarn', expected 'none' or 'linear'"),
            std::string::npos);
}

TEST(GgufLlama, RefusesSizesThatTheTensorsDoNotHave) {
  const auto reason = [](const std::string& key, std::uint32_t value) {
    const std::string text = refusal([&](Model& m) { m.numbers[key] = value; });
    return text.substr(text.find(": is ") + 2);
  };
  EXPECT_EQ(reason("llama.embedding_length", 9), "is 9, expected 8, the columns of token_embd.weight");
  EXPECT_EQ(reason("llama.feed_forward_length", 13), "is 13, expected 12, the rows of blk.0.ffn_up.weight");
  EXPECT_EQ(reason("llama.vocab_size", 8), "is 8, expected 7, the rows of token_embd.weight");
  EXPECT_EQ(reason("llama.attention.head_count", 0), "is 0, expected 1 to 8");
  EXPECT_EQ(reason("llama.attention.head_count", 3),
            "is 3, expected a divisor of 8, the rows of blk.0.attn_q.weight");
  EXPECT_EQ(reason("llama.attention.head_count_kv", 3), "is 3, expected a divisor of 4, the heads");
  EXPECT_EQ(reason("llama.rope.dimension_count", 1), "is 1, expected an even number");
  EXPECT_EQ(reason("llama.block_count", 4'000'000'000u), "is 4000000000, expected 1 to 20");
}

TEST(GgufLlama, RefusesNumbersThatNoLayerTakes) {
  const auto reason = [](const std::string& key, float value) {
    const std::string text = refusal([&](Model& m) {
      m.texts["llama.rope.scaling.type"] = "linear";
      m.floats["llama.rope.scaling.factor"] = 2;
      m.floats[key] = value;
    });
    return text.substr(text.find(": is ") + 2);
  };
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(reason("llama.rope.freq_base", infinity), "is inf, expected a finite number above 1");
  EXPECT_EQ(reason("llama.rope.freq_base", 1), "is 1, expected a finite number above 1");
  EXPECT_EQ(reason("llama.rope.scaling.factor", infinity), "is inf, expected a finite number of at least 1");
  EXPECT_EQ(reason("llama.rope.scaling.factor", 0.5f), "is 0.5, expected a finite number of at least 1");
  EXPECT_EQ(reason("llama.attention.layer_norm_rms_epsilon", -infinity),
            "is -inf, expected a finite number above 0");
}

TEST(GgufLlama, RefusesMatricesWithoutNumbers) {
  const auto reason = [](const std::string& name, Index rows, Index cols) {
    const std::string text = refusal([&](Model& m) { m.tensors[name] = Matrix<float>(rows, cols); });
    return text.substr(text.find(": is ") + 2);
  };
  EXPECT_EQ(reason("token_embd.weight", 0, 8), "is F32 [0, 8], expected [rows, 8]");
  EXPECT_EQ(reason("blk.0.ffn_up.weight", 0, 8), "is F32 [0, 8], expected [rows, 8]");
  EXPECT_EQ(reason("blk.0.attn_q.weight", Index(1) << 40, 0),
            "is F32 [1099511627776, 0], expected [rows, 8]");
}

TEST(GgufLlama, ListsTensorsThatDoNotFit) {
  const std::string text = refusal([](Model& m) {
    m.tensors.erase("blk.1.attn_q.weight");
    m.tensors["blk.0.attn_v.weight"] = Matrix<float>::Zero(5, 8);
    m.tensors["rope_freqs.weight"] = Matrix<float>::Zero(1, 1);
  });
  EXPECT_NE(text.find("missing:\n    'blk.1.attn_q.weight' for layers.1.attention.query.weight [8, 8]"),
            text.npos)
      << text;
  EXPECT_NE(text.find("is F32 [5, 8], expected as layers.0.attention.value.weight [4, 8]"), text.npos)
      << text;
  EXPECT_NE(text.find("surplus:\n    'rope_freqs.weight' F32 [1]"), text.npos) << text;
  EXPECT_EQ(refusal([](Model& m) { m.tensors.erase("blk.1.ffn_norm.weight"); }),
            "file: tensor 'blk.1.ffn_norm.weight': is missing among the 19 tensors of the file");
}

TEST(GgufLlama, AHeadOfItsOwnIsUsed) {
  model::DecoderOptions options = small();
  options.tied_head = false;
  model::Decoder<float> decoder(options, layer::Initial::zeros());
  check::randomise(decoder, 3);
  const GgufBytes bytes = Model(decoder).bytes();
  EXPECT_EQ(numbers_of(published::load_llama_gguf<float>(bytes.open())), numbers_of(decoder));
}

}  // namespace
}  // namespace headwise::io::gguf_llama_test
