// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/autograd/ops.hpp>
#include <headwise/core/thread_pool.hpp>
#include <headwise/layer/embedding.hpp>
#include <headwise/layer/feed_forward.hpp>
#include <headwise/layer/multi_head_attention.hpp>
#include <headwise/layer/norm.hpp>
#include <headwise/mask/causal.hpp>

#include <gtest/gtest.h>

#include "layer/parameters.hpp"

#include <atomic>

namespace headwise::layer::threads_test {
namespace {

/// Runs serially, and counts how often it is asked.
struct Counted {
  std::atomic<int> calls{0};

  Executor executor() {
    return {this, [](void* self, Index n, void* state, Executor::Body body) {
              ++static_cast<Counted*>(self)->calls;
              for (Index i = 0; i < n; ++i) body(state, i);
            }};
  }
};

/// compute(executor) gives the same bits for any number of threads, and asks the executor `calls` times.
void expect_shared(int calls, auto&& compute) {
  const auto serial = compute(Executor{});
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(compute(pool.executor()), serial) << threads;
  }
  Counted counted;
  (void)compute(counted.executor());
  EXPECT_EQ(counted.calls, calls);
}

TEST(LayerThreads, ShareProducts) {
  Rng rng(1);
  const Matrix<float> x = normal(300, 320, 1.0f, rng);  // a product with 640 columns is 0.12 GFLOP

  for (const bool bias : {false, true}) {
    const Linear<float> linear({.in = 320, .out = 640, .bias = bias}, rng);
    expect_shared(bias ? 2 : 1, [&](const Executor& executor) { return linear(x, executor); });
  }
  for (const bool gated : {false, true}) {
    const FeedForward<float> feed_forward({.d_model = 320, .d_ff = 640, .gated = gated}, rng);
    // Each product and its bias, and between them what is done to each number.
    expect_shared(gated ? 7 : 5, [&](const Executor& executor) { return feed_forward(x, executor); });
  }
  const Embedding<float> embedding({.count = 700, .width = 320}, rng);
  expect_shared(1, [&](const Executor& executor) { return embedding.scores(x, executor); });
}

TEST(LayerThreads, ShareTheProjectionsOfHeads) {
  Rng rng(2);
  const MultiHeadAttention<float> layer({.d_model = 320,
                                         .heads = 4,
                                         .head_dim = 160,
                                         .value_bias = true,
                                         .rotary = position::Rotary({.head_dim = 160})},
                                        rng);
  const Matrix<float> x = normal(300, 320, 1.0f, rng);
  // Four projections, a bias, the angles, two rotations, and attention itself.
  expect_shared(9, [&](const Executor& executor) {
    return Matrix<float>(layer(x, {.executor = executor}, mask::Causal{}));
  });
  expect_shared(9, [&](const Executor& executor) {
    return layer(x, KeyValueCache<float>(), {.executor = executor}, mask::Causal{}).output;
  });
}

TEST(LayerThreads, ShareTheRowsOfEveryVerbThatTreatsThemAlone) {
  Rng rng(4);
  const Matrix<float> x = normal(700, 320, 1.0f, rng), y = normal(700, 320, 1.0f, rng);
  const Matrix<float> row = normal(1, 320, 1.0f, rng);
  const auto shared = [&](auto&& verb) { expect_shared(1, verb); };
  shared([&](const Executor& executor) { return add(x, y, executor); });
  shared([&](const Executor& executor) { return add(Matrix<float>(x), row, executor); });
  shared([&](const Executor& executor) { return add(x.leftCols(300), y.rightCols(300), executor); });
  shared([&](const Executor& executor) { return subtract(x, row, executor); });
  shared([&](const Executor& executor) { return multiply_elementwise(x, y, executor); });
  shared([&](const Executor& executor) { return multiply_scalar(x, 0.3, executor); });
  shared([&](const Executor& executor) { return sigmoid(x, executor); });
  shared([&](const Executor& executor) { return headwise::tanh(x, executor); });
  shared([&](const Executor& executor) { return layer_norm(x, row, 1e-5, executor); });
  shared([&](const Executor& executor) { return layer_norm(x, row, row, 1e-5, executor); });
  shared([&](const Executor& executor) { return layer_norm(Matrix<float>(x), row, row, 1e-5, executor); });
  shared([&](const Executor& executor) { return rms_norm(x, row, 1e-5, executor); });
  shared([&](const Executor& executor) { return normalise_rows(x, executor); });
  for (const Activation each :
       {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu}) {
    shared([&](const Executor& executor) { return activated(each, x, executor); });
    shared([&](const Executor& executor) { return activated(each, Matrix<float>(x), executor); });
    shared([&](const Executor& executor) { return gated(each, Matrix<float>(x), y, executor); });
    EXPECT_EQ(gated(each, Matrix<float>(x), y), multiply_elementwise(activated(each, x), y));
  }
  for (const position::Pairing pairing : {position::Pairing::half_split, position::Pairing::interleaved}) {
    const position::Rotary rotary({.head_dim = 80, .pairing = pairing});
    const auto positions = position::consecutive(700, 3);
    shared([&](const Executor& executor) { return rotary.table<float>(positions, {}, executor).sines; });
    const auto table = rotary.table<float>(positions);
    shared([&](const Executor& executor) { return rotate(x, table, 4, executor); });
    shared([&](const Executor& executor) { return rotate(Matrix<float>(x), table, 4, executor); });
    shared([&](const Executor& executor) { return rotate_backward(x, table, 4, executor); });
  }
}

TEST(LayerThreads, MultiplyOneTokenByStoredWeightsInOneRound) {
  Rng rng(7);
  const auto filled = [&](auto layer) {
    layer.for_each_parameter([&](std::string_view, auto& parameter) {
      const Matrix<float> numbers = normal(parameter.rows(), parameter.cols(), 0.1f, rng);
      if constexpr (requires { parameter.value; }) {
        parameter.value = numbers;
      } else {
        parameter = stored::Weight::rounded(numbers, stored::Format::q8_0);
      }
    });
    return layer;
  };
  const Matrix<float> x = normal(1, 320, 1.0f, rng);
  const auto feed_forward = filled(FeedForward<float, stored::Weight>(
      {.d_model = 320, .d_ff = 1024, .activation = Activation::silu, .gated = true}, rng));
  expect_shared(2, [&](const Executor& executor) { return feed_forward(x, executor); });
  const auto attention = filled(MultiHeadAttention<float, stored::Weight>(
      {.d_model = 320, .heads = 4, .kv_heads = 2, .head_dim = 240, .value_bias = true}, rng));
  expect_shared(2, [&](const Executor& executor) {
    return attention(x, KeyValueCache<float>(), {.executor = executor}).output;
  });
}

TEST(LayerThreads, MultiplyOneTokenByLearnedWeightsInParts) {
  Rng rng(8);
  const Matrix<float> x = normal(1, 576, 1.0f, rng);
  const Linear<float> linear({.in = 576, .out = 1536}, rng);
  expect_shared(1, [&](const Executor& executor) { return linear(x, executor); });
}

TEST(LayerThreads, LeaveFewRowsWhereTheyAre) {
  Rng rng(5);
  const Matrix<float> x = normal(40, 320, 1.0f, rng);
  expect_shared(0, [&](const Executor& executor) { return add(x, x, executor); });
  expect_shared(0, [&](const Executor& executor) { return silu(x, executor); });
  expect_shared(0, [&](const Executor& executor) { return layer_norm(x, x.topRows(1), 1e-5, executor); });
}

/// The gradients of all parameters and of x, one after the other, for d_y = y.
Matrix<float> all_gradients(auto& layer, const Matrix<float>& x, const Executor& executor) {
  autograd::Tape<float> tape;
  const auto input = tape.input(x);
  const auto y = layer(input, executor);
  const auto gradients = backward(y, y.value());
  std::vector<float> numbers;
  const auto append = [&](const Matrix<float>& d) {
    numbers.insert(numbers.end(), d.data(), d.data() + d.size());
  };
  append(gradients.of(input));
  layer.for_each_parameter([&](std::string_view, const auto& parameter) { append(gradients.of(parameter)); });
  return Eigen::Map<const Matrix<float>>(numbers.data(), 1, Index(numbers.size()));
}

/// The gradient of x for d_y = y, where y = f(x).
Matrix<float> gradient_of_x(auto&& f, const Matrix<float>& x) {
  autograd::Tape<float> tape;
  const auto input = tape.input(x);
  const auto y = f(input);
  return backward(y, y.value()).of(input);
}

TEST(LayerThreads, ShareTheProductsOfATapeForwardAndBackward) {
  Rng rng(3);
  const Matrix<float> x = normal(300, 320, 1.0f, rng);
  const Linear<float> linear({.in = 320, .out = 640}, rng);
  // Three products, and the bias.
  expect_shared(4, [&](const Executor& executor) { return all_gradients(linear, x, executor); });
}

TEST(LayerThreads, ShareRowsOfATapeForwardAndBackward) {
  Rng rng(6);
  const Matrix<float> x = normal(700, 320, 1.0f, rng);
  for (const NormKind kind : {NormKind::layer, NormKind::rms}) {
    const Norm<float> norm({.kind = kind, .width = 320});
    expect_shared(2, [&](const Executor& executor) { return all_gradients(norm, x, executor); });
  }
  for (const Activation each :
       {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu}) {
    // Two activations and a product, and backward two gradients of the product and one of each activation.
    expect_shared(7, [&](const Executor& executor) {
      return gradient_of_x(
          [&](const auto& input) { return gated(each, activated(each, input, executor), input, executor); },
          x);
    });
  }
  const position::Rotary rotary({.head_dim = 80});
  const auto table = rotary.table<float>(position::consecutive(700, 0));
  expect_shared(2, [&](const Executor& executor) {
    return gradient_of_x([&](const auto& input) { return rotate(input, table, 4, executor); }, x);
  });
}

}  // namespace
}  // namespace headwise::layer::threads_test
