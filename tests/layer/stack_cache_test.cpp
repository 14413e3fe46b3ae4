// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/layer/stack.hpp>
#include <headwise/mask/causal.hpp>

#include <gtest/gtest.h>

#include "layer/parameters.hpp"
#include "support/check.hpp"
#include "support/thrown.hpp"

#include <utility>

namespace headwise::layer::stack_cache_test {
namespace {

using check::near;
using check::random;
using check::thrown;

constexpr Index d_model = 6;

Stack<double> made(Wiring wiring, bool crosses = false) {
  BlockOptions block{.attention = {.d_model = d_model, .heads = 2},
                     .feed_forward = {.d_model = d_model, .d_ff = 9},
                     .norm = {.width = d_model},
                     .wiring = wiring};
  if (crosses) block.cross_attention = block.attention;
  Stack<double> stack({.layers = 3, .block = block, .final_norm = true}, Initial::zeros());
  check::randomise(stack, 5);
  return stack;
}

TEST(StackCache, TokenByTokenIsTheWholeText) {
  const auto x = random(6, d_model, 1);
  for (Wiring wiring : {Wiring::post_norm, Wiring::pre_norm, Wiring::parallel}) {
    const Stack<double> stack = made(wiring);
    Matrix<double> y(6, d_model);
    Stack<double>::Caches caches;
    for (Index t = 0; t < 6; ++t) {
      auto [output, longer] = stack(x.row(t), std::move(caches), {}, mask::Causal{});
      y.row(t) = output;
      caches = std::move(longer);
    }
    EXPECT_TRUE(near(y, stack(x, {}, mask::Causal{}), 1e-12));
  }
}

TEST(StackCache, AndSoItIsWithAMemory) {
  const auto x = random(4, d_model, 1), memory = random(7, d_model, 2);
  const Stack<double> stack = made(Wiring::pre_norm, true);
  const auto remembered = stack.remembered(memory);
  Matrix<double> y(4, d_model);
  Stack<double>::Caches caches;
  for (Index t = 0; t < 4; ++t) {
    auto [output, longer] = stack.across(x.row(t), std::move(caches), {}, mask::Causal{}, score::None{},
                                         remembered, {}, mask::None{});
    y.row(t) = output;
    caches = std::move(longer);
  }
  EXPECT_TRUE(near(y, stack.across(x, {}, mask::Causal{}, score::None{}, memory, {}, mask::None{}), 1e-12));
}

TEST(StackCache, NeedsOneCacheABlock) {
  const Stack<double> stack = made(Wiring::pre_norm);
  EXPECT_EQ(thrown<ShapeError>(
                [&] { (void)stack(random(1, d_model, 1), Stack<double>::Caches(2), {}, mask::Causal{}); }),
            "Stack: caches is 2, expected 3; one a block, or none at the start of a text");
}

}  // namespace
}  // namespace headwise::layer::stack_cache_test
