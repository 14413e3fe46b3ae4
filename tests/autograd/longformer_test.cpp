#include <headwise/autograd/ops.hpp>
#include <headwise/layer/longformer_attention.hpp>

#include "autograd/laws.hpp"
#include "layer/parameters.hpp"

namespace headwise::longformer_test {
namespace {

using check::random;
using laws::expect_layer_gradients;

TEST(LayerGradients, LongformerAttention) {
  Rng rng(1);
  layer::LongformerAttention<double> attention({.d_model = 4, .heads = 2}, rng);
  check::randomise(attention, 2);
  LongformerPattern pattern{.reach = 1};
  pattern.global = {true, false, false, false, true, false, false, false};
  const auto windowed = [&](const auto& layer, const auto& x) { return layer(x, pattern); };
  expect_layer_gradients(attention, windowed, random(8, 4, 1));
}

}  // namespace
}  // namespace headwise::longformer_test
