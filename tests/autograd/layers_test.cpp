#include <headwise/autograd/ops.hpp>
#include <headwise/layer/block.hpp>
#include <headwise/mask/causal.hpp>

#include "autograd/laws.hpp"
#include "layer/parameters.hpp"

namespace headwise::layers_test {
namespace {

using check::random;
using laws::expect_layer_gradients;

const auto applied = [](const auto& layer, const auto& x) { return layer(x); };

TEST(LayerGradients, LinearAndNorms) {
  Rng rng(1);
  for (const bool bias : {true, false}) {
    layer::Linear<double> linear({.in = 5, .out = 4, .bias = bias}, rng);
    check::randomise(linear, 2);
    expect_layer_gradients(linear, applied, random(7, 5, 1));
    layer::Norm<double> norm({.width = 5, .bias = bias});
    check::randomise(norm, 3);
    expect_layer_gradients(norm, applied, random(7, 5, 1));
  }
  layer::Norm<double> rms({.kind = layer::NormKind::rms, .width = 5});
  check::randomise(rms, 3);
  expect_layer_gradients(rms, applied, random(7, 5, 1));
}

TEST(LayerGradients, FeedForwardWithEveryActivation) {
  Rng rng(1);
  for (const auto activation : {layer::Activation::relu, layer::Activation::gelu,
                                layer::Activation::gelu_tanh, layer::Activation::silu}) {
    for (const bool gated : {false, true}) {
      layer::FeedForward<double> layer({.d_model = 4, .d_ff = 6, .activation = activation, .gated = gated},
                                       rng);
      check::randomise(layer, 5);
      expect_layer_gradients(layer, applied, random(6, 4, 1));
    }
  }
}

TEST(LayerGradients, MultiHeadAttention) {
  Rng rng(1);
  for (const bool rotary : {false, true}) {
    layer::MultiHeadAttention<double> attention(
        {.d_model = 6,
         .heads = 2,
         .kv_heads = 1,
         .head_dim = 4,
         .query_bias = true,
         .output_bias = true,
         .rotary = rotary ? std::optional(position::Rotary({.head_dim = 4})) : std::nullopt},
        rng);
    check::randomise(attention, 2);
    const auto causal = [](const auto& layer, const auto& x) {
      return layer(x, {.query_rows = RaggedRows::from_lengths({4, 0, 3})}, mask::Causal{});
    };
    expect_layer_gradients(attention, causal, random(7, 6, 1));
  }
}

TEST(LayerGradients, BlocksOfEveryWiring) {
  Rng rng(1);
  for (const auto wiring : {layer::Wiring::post_norm, layer::Wiring::pre_norm, layer::Wiring::parallel}) {
    layer::Block<double> block(
        {.attention = {.d_model = 4, .heads = 2},
         .feed_forward = {.d_model = 4, .d_ff = 6, .activation = layer::Activation::gelu_tanh},
         .norm = {.width = 4},
         .wiring = wiring},
        rng);
    check::randomise(block, 2);
    const auto dropping = [](const auto& layer, const auto& x) {
      return layer(x, {.dropout = {.rate = 0.3, .seed = 4}}, mask::Causal{});
    };
    expect_layer_gradients(block, dropping, random(5, 4, 1));
  }
}

TEST(LayerGradients, CrossAttentionReachesTheMemory) {
  Rng rng(1);
  layer::Block<double> block(
      {.attention = {.d_model = 4, .heads = 2},
       .cross_attention = layer::MultiHeadAttentionOptions{.d_model = 4, .heads = 2},
       .feed_forward = {.d_model = 4, .d_ff = 6, .activation = layer::Activation::silu},
       .norm = {.width = 4},
       .wiring = layer::Wiring::post_norm},
      rng);
  check::randomise(block, 2);
  // The memory is made of x, so that its gradient shows in that of x.
  const auto looking_back = [](const auto& layer, const auto& x) {
    return layer.across(x, {}, mask::Causal{}, score::None{}, multiply_scalar(x, 0.5), {}, mask::None{});
  };
  expect_layer_gradients(block, looking_back, random(5, 4, 1));
}

}  // namespace
}  // namespace headwise::layers_test
