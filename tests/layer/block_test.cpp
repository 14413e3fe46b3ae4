// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/layer/stack.hpp>
#include <headwise/mask/causal.hpp>

#include <gtest/gtest.h>

#include "layer/parameters.hpp"
#include "layer/plain_layers.hpp"
#include "support/check.hpp"
#include "support/thrown.hpp"

#include <string>
#include <utility>
#include <vector>

namespace headwise::layer::block_test {
namespace {

using check::near;
using check::random;
using check::thrown;

constexpr Index d_model = 6, heads = 2;
constexpr double eps = 1e-3;

BlockOptions options_for(Wiring wiring, NormKind norm = NormKind::layer, bool crosses = false) {
  BlockOptions options{
      .attention = {.d_model = d_model, .heads = heads, .query_bias = true, .output_bias = true},
      .feed_forward = {.d_model = d_model, .d_ff = 9, .activation = Activation::gelu},
      .norm = {.kind = norm, .width = d_model, .eps = eps},
      .wiring = wiring};
  if (crosses) options.cross_attention = MultiHeadAttentionOptions{.d_model = d_model, .heads = heads};
  return options;
}

/// One block by its equation; prefix as "3." or "".
Matrix<double> plain_block(const Matrix<double>& x, const plain::Numbers& p, const std::string& prefix,
                           Wiring wiring, const Matrix<double>* memory = nullptr) {
  const auto self = [&](const Matrix<double>& h) {
    return plain::attention(h, h, p, prefix + "attention", heads, plain::causal());
  };
  const auto cross = [&](const Matrix<double>& h) {
    return plain::attention(h, *memory, p, prefix + "cross_attention", heads);
  };
  const auto forward = [&](const Matrix<double>& h) {
    return plain::feed_forward(h, p, prefix + "feed_forward", plain::gelu);
  };
  const auto norm = [&](const std::string& name, const Matrix<double>& h) {
    return plain::norm(h, p, prefix + name, eps);
  };
  if (wiring == Wiring::parallel) {
    return x + self(norm("attention_norm", x)) + forward(norm("feed_forward_norm", x));
  }
  if (wiring == Wiring::pre_norm) {
    Matrix<double> y = x + self(norm("attention_norm", x));
    if (memory != nullptr) y += cross(norm("cross_norm", y));
    return y + forward(norm("feed_forward_norm", y));
  }
  Matrix<double> y = norm("attention_norm", x + self(x));
  if (memory != nullptr) y = norm("cross_norm", y + cross(y));
  return norm("feed_forward_norm", y + forward(y));
}

Stack<double> made(const StackOptions& options) {
  Stack<double> stack(options, Initial::zeros());
  check::randomise(stack, 5);
  return stack;
}

TEST(Block, IsWiredAsItsEquationSays) {
  const auto x = random(5, d_model, 1);
  for (Wiring wiring : {Wiring::post_norm, Wiring::pre_norm, Wiring::parallel}) {
    for (NormKind norm : {NormKind::layer, NormKind::rms}) {
      const Stack<double> stack = made({.layers = 2, .block = options_for(wiring, norm)});
      const auto p = check::parameters_of(stack);
      const Matrix<double> expected = plain_block(plain_block(x, p, "0.", wiring), p, "1.", wiring);
      EXPECT_TRUE(near(stack(x, {}, mask::Causal{}), expected, 1e-11));
    }
  }
}

TEST(Block, LooksAtTheMemoryBetweenItsOtherParts) {
  const auto x = random(5, d_model, 1), memory = random(7, d_model, 2);
  for (Wiring wiring : {Wiring::post_norm, Wiring::pre_norm}) {
    const Stack<double> stack = made({.layers = 1, .block = options_for(wiring, NormKind::layer, true)});
    EXPECT_TRUE(near(stack.across(x, {}, mask::Causal{}, score::None{}, memory, {}, mask::None{}),
                     plain_block(x, check::parameters_of(stack), "0.", wiring, &memory), 1e-11));
  }
}

TEST(Block, RefusesWhatDoesNotFit) {
  BlockOptions narrow = options_for(Wiring::pre_norm);
  narrow.norm.width = 5;
  EXPECT_EQ(thrown<ShapeError>([&] { Block<double>(narrow, Initial::zeros()); }),
            "Block: width of norm is 5, expected 6");
  EXPECT_EQ(thrown<ShapeError>([&] {
              Block<double>(options_for(Wiring::parallel, NormKind::layer, true), Initial::zeros());
            }),
            "Block: wiring is parallel with cross_attention, expected pre_norm or post_norm");
  const Stack<double> stack = made({.layers = 1, .block = options_for(Wiring::pre_norm)});
  const auto x = random(2, d_model, 1);
  EXPECT_EQ(thrown<ShapeError>(
                [&] { (void)stack.across(x, {}, mask::None{}, score::None{}, x, {}, mask::None{}); }),
            "Block: a memory is given, expected none; this block was made without cross_attention");
}

TEST(Stack, ShowsWhatGoesInAndWhatEachBlockReturns) {
  const auto x = random(5, d_model, 1);
  const Stack<double> stack = made({.layers = 2, .block = options_for(Wiring::pre_norm), .final_norm = true});
  const auto p = check::parameters_of(stack);
  std::vector<Matrix<double>> seen;
  const Matrix<double> y = stack(x, {}, mask::Causal{}, score::None{}, [&](Index i, const Matrix<double>& h) {
    EXPECT_EQ(i, Index(seen.size()));
    seen.push_back(h);
  });
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0], x);
  EXPECT_TRUE(near(seen[1], plain_block(x, p, "0.", Wiring::pre_norm), 1e-11));
  EXPECT_TRUE(near(y, plain::norm(seen[2], p, "norm", eps), 1e-12));
}

TEST(Stack, WithoutBlocksReturnsItsInput) {
  const auto x = random(3, d_model, 1);
  EXPECT_EQ(made({.layers = 0, .block = options_for(Wiring::pre_norm)})(x, {}, mask::Causal{}), x);
}

}  // namespace
}  // namespace headwise::layer::block_test
