#include <headwise/layer/feed_forward.hpp>

#include <gtest/gtest.h>

#include "layer/parameters.hpp"
#include "layer/plain_layers.hpp"
#include "support/check.hpp"
#include "support/thrown.hpp"

#include <string>
#include <utility>
#include <vector>

namespace headwise::layer {
namespace {

namespace hw = headwise;

using check::near;
using check::random;
using check::thrown;

/// The layer's parameters under "f.", as the plain form looks them up.
plain::Numbers numbers_of(const FeedForward<double>& layer) {
  plain::Numbers result;
  for (auto& [name, value] : check::parameters_of(layer)) result["f." + name] = value;
  return result;
}

TEST(FeedForward, FollowsItsEquationWithEveryActivation) {
  const std::pair<Activation, double (*)(double)> activations[] = {{Activation::relu, plain::relu},
                                                                   {Activation::gelu, plain::gelu},
                                                                   {Activation::gelu_tanh, plain::gelu_tanh},
                                                                   {Activation::silu, plain::silu}};
  for (const auto& [activation, formula] : activations) {
    for (bool gated : {false, true}) {
      FeedForward<double> layer({.d_model = 5, .d_ff = 33, .activation = activation, .gated = gated},
                                Initial::zeros());
      check::randomise(layer, 3);
      for (Index rows : {0, 1, 65}) {
        const auto x = random(rows, 5, 2);
        EXPECT_TRUE(near(layer(x), plain::feed_forward(x, numbers_of(layer), "f", formula), 1e-12));
      }
    }
  }
}

TEST(FeedForward, IsSwiGluWithAGate) {
  Rng rng(1);
  // [docs layer/feed_forward]
  const hw::layer::FeedForward<double> swiglu(
      {.d_model = 8, .d_ff = 20, .activation = hw::layer::Activation::silu, .gated = true, .bias = false},
      rng);
  const hw::Matrix<double> y = swiglu(hw::normal(3, 8, 1.0, rng));  // [3, 8]
  // [docs end]
  EXPECT_EQ(y.cols(), 8);
  std::vector<std::string> names;
  swiglu.for_each_parameter([&](std::string_view name, const auto&) { names.emplace_back(name); });
  EXPECT_EQ(names, (std::vector<std::string>{"up.weight", "gate.weight", "down.weight"}));
}

TEST(FeedForward, NamesWhatDoesNotFit) {
  const auto message = [](const FeedForwardOptions& options) {
    return thrown<ShapeError>([&] { FeedForward<double>(options, Initial::zeros()); });
  };
  EXPECT_EQ(message({.d_ff = 4}), "FeedForward: d_model is 0, expected a positive number");
  EXPECT_EQ(message({.d_model = 4, .d_ff = -1}), "FeedForward: d_ff is -1, expected a positive number");
}

}  // namespace
}  // namespace headwise::layer
