// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/model/decoder.hpp>

#include <gtest/gtest.h>

#include "layer/parameters.hpp"
#include "support/check.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// A stand-in for a variable that records: a matrix with a list of the verbs that were called on it. It is
/// declared after the layers, as a tape is, and found by argument-dependent lookup alone.
namespace stand_in {

using headwise::Index;
using headwise::Matrix;

std::vector<std::string> calls;

struct Var {
  using Scalar = double;

  Matrix<double> value;
  Index rows() const noexcept { return value.rows(); }
  Index cols() const noexcept { return value.cols(); }
};

struct Ids {
  std::vector<headwise::TokenId> value;
  std::size_t size() const noexcept { return value.size(); }
};

Var noted(const char* verb, Matrix<double> value) {
  calls.emplace_back(verb);
  return {std::move(value)};
}

Var embed(const auto& table, const Ids& ids) {
  return noted("embed", headwise::embed(table, std::span<const headwise::TokenId>(ids.value)));
}
Var add_positions(const Var& x, const auto& table, std::span<const headwise::Position> positions) {
  return noted("add_positions", headwise::position::add_positions(x.value, table, positions));
}
Var add_positions(const Var& x, const Matrix<double>& signal) {
  return noted("add_positions", headwise::position::add_positions(x.value, signal));
}
Var add_embedding(const Var& x, const auto& table, std::span<const headwise::TokenId> ids) {
  return noted("add_embedding", headwise::add_embedding(x.value, table, ids));
}
Var multiply_scalar(const Var& x, double factor) {
  return noted("multiply_scalar", headwise::multiply_scalar(x.value, factor));
}
Var affine(const Var& x, const auto& w, const auto& b) {
  return noted("affine", headwise::affine(x.value, w, b));
}
Var multiply_transposed(const Var& x, const auto& w) {
  return noted("multiply_transposed", headwise::multiply_transposed(x.value, w));
}
Var add(const Var& x, const Var& y) { return noted("add", headwise::add(x.value, y.value)); }
Var multiply_elementwise(const Var& x, const Var& y) {
  return noted("multiply_elementwise", headwise::multiply_elementwise(x.value, y.value));
}
Var relu(const Var& x) { return noted("relu", headwise::relu(x.value)); }
Var gelu(const Var& x) { return noted("gelu", headwise::gelu(x.value)); }
Var gelu_tanh(const Var& x) { return noted("gelu_tanh", headwise::gelu_tanh(x.value)); }
Var silu(const Var& x) { return noted("silu", headwise::silu(x.value)); }
Var layer_norm(const Var& x, const auto& gain, const auto& bias, double eps) {
  return noted("layer_norm", headwise::layer_norm(x.value, gain, bias, eps));
}
Var layer_norm(const Var& x, const auto& gain, double eps) {
  return noted("layer_norm", headwise::layer_norm(x.value, gain, eps));
}
Var rms_norm(const Var& x, const auto& gain, double eps) {
  return noted("rms_norm", headwise::rms_norm(x.value, gain, eps));
}
Var rotate(const Var& x, const auto& table, Index heads) {
  return noted("rotate", headwise::position::rotate(x.value, table, heads));
}
Var attend(const Var& query, const Var& key, const Var& value, const headwise::AttendOptions& options,
           const auto& mask, const auto& score) {
  return noted("attend", headwise::attend(query.value, key.value, value.value, options, mask, score));
}

}  // namespace stand_in

namespace headwise {
namespace {

model::Decoder<double> made(model::DecoderOptions options) {
  options.vocab_size = 11;
  options.d_model = 8;
  options.heads = 2;
  options.d_ff = 12;
  model::Decoder<double> decoder(options, layer::Initial::zeros());
  check::randomise(decoder, 3);
  return decoder;
}

using Calls = std::vector<std::string>;

TEST(AnySequence, AModelCallsTheVerbsOfWhatItIsGiven) {
  const auto gpt = made({.positions = layer::InputPositions::learned, .max_positions = 9});
  const std::vector<TokenId> ids{1, 2, 3};
  stand_in::calls.clear();
  const stand_in::Var logits = gpt(stand_in::Ids{ids});
  EXPECT_EQ(logits.value, gpt(ids));
  EXPECT_EQ(stand_in::calls, (Calls{"embed", "add_positions", "layer_norm", "affine", "affine", "affine",
                                    "attend", "affine", "add", "layer_norm", "affine", "gelu_tanh", "affine",
                                    "add", "layer_norm", "multiply_transposed"}));
}

TEST(AnySequence, AlsoWithRotaryPositionsAndAGate) {
  const auto llama = made({.rotary = position::Rotary({.head_dim = 4}),
                           .norm = layer::NormKind::rms,
                           .activation = layer::Activation::silu,
                           .gated = true,
                           .input_bias = false,
                           .output_bias = false,
                           .feed_forward_bias = false});
  const std::vector<TokenId> ids{1, 2, 3};
  stand_in::calls.clear();
  const stand_in::Var logits = llama(stand_in::Ids{ids});
  EXPECT_EQ(logits.value, llama(ids));
  Calls expected{"embed", "rms_norm"};
  expected.insert(expected.end(), 3, "multiply_transposed");
  for (const char* verb : {"rotate", "rotate", "attend", "multiply_transposed", "add", "rms_norm",
                           "multiply_transposed", "silu", "multiply_transposed", "multiply_elementwise",
                           "multiply_transposed", "add", "rms_norm", "multiply_transposed"}) {
    expected.emplace_back(verb);
  }
  // The order in which the arguments of one call are computed is the compiler's; what is called is not.
  std::sort(expected.begin(), expected.end());
  std::sort(stand_in::calls.begin(), stand_in::calls.end());
  EXPECT_EQ(stand_in::calls, expected);
}

}  // namespace
}  // namespace headwise
