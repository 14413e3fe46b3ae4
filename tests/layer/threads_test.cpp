// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/autograd/ops.hpp>
#include <headwise/core/thread_pool.hpp>
#include <headwise/layer/embedding.hpp>
#include <headwise/layer/feed_forward.hpp>
#include <headwise/layer/multi_head_attention.hpp>
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
    expect_shared(1, [&](const Executor& executor) { return linear(x, executor); });
  }
  for (const bool gated : {false, true}) {
    const FeedForward<float> feed_forward({.d_model = 320, .d_ff = 640, .gated = gated}, rng);
    expect_shared(gated ? 3 : 2, [&](const Executor& executor) { return feed_forward(x, executor); });
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
  // Four projections, and attention itself.
  expect_shared(5, [&](const Executor& executor) {
    return Matrix<float>(layer(x, {.executor = executor}, mask::Causal{}));
  });
  expect_shared(5, [&](const Executor& executor) {
    return layer(x, KeyValueCache<float>(), {.executor = executor}, mask::Causal{}).output;
  });
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

TEST(LayerThreads, ShareTheProductsOfATapeForwardAndBackward) {
  Rng rng(3);
  const Matrix<float> x = normal(300, 320, 1.0f, rng);
  const Linear<float> linear({.in = 320, .out = 640}, rng);
  expect_shared(3, [&](const Executor& executor) { return all_gradients(linear, x, executor); });
}

}  // namespace
}  // namespace headwise::layer::threads_test
