// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/core/thread_pool.hpp>
#include <headwise/model/generate.hpp>
#include <headwise/model/likelihood.hpp>

#include <gtest/gtest.h>

namespace headwise::model::threads_test {
namespace {

/// Wide enough that its products are shared, shallow enough for a test.
DecoderOptions wide() {
  return {.vocab_size = 1500,
          .d_model = 256,
          .layers = 2,
          .heads = 4,
          .kv_heads = 2,
          .d_ff = 512,
          .rotary = position::Rotary({.head_dim = 64}),
          .norm = layer::NormKind::rms,
          .activation = layer::Activation::silu,
          .gated = true};
}

template <class Decoder>
void expect_same_bits(const Decoder& decoder) {
  std::vector<TokenId> ids;
  for (int i = 0; i < 300; ++i) ids.push_back((i * 577) % 1500);
  const std::vector<TokenId> next{5};
  const Matrix<float> logits = decoder(ids);
  const auto prompt = decoder.step(ids, {});
  const Matrix<float> then = decoder.step(next, prompt.cache).output;
  const auto likelihood = negative_log_likelihood(decoder, ids);
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    const AttendOptions options{.executor = pool.executor()};
    EXPECT_EQ(decoder(ids, options), logits) << threads;
    const auto shared = decoder.step(ids, {}, options);
    EXPECT_EQ(shared.output, prompt.output) << threads;
    EXPECT_EQ(decoder.step(next, shared.cache, options).output, then) << threads;
    EXPECT_EQ(negative_log_likelihood(decoder, ids, options), likelihood) << threads;
  }
}

TEST(DecoderThreads, GiveTheSameBitsForAnyNumberOfThem) {
  Rng rng(1);
  expect_same_bits(Decoder<float>(wide(), rng));
}

TEST(DecoderThreads, AlsoWithStoredWeights) {
  Decoder<float, score::None, stored::Weight> decoder(wide(), layer::Initial::zeros());
  Rng rng(2);
  decoder.for_each_parameter([&](std::string_view, auto& parameter) {
    const Matrix<float> numbers = normal(parameter.rows(), parameter.cols(), 0.05f, rng);
    if constexpr (requires { parameter.value; }) {
      parameter.value = numbers;
    } else {
      parameter = stored::Weight::rounded(numbers, stored::Format::q8_0);
    }
  });
  expect_same_bits(decoder);
}

}  // namespace
}  // namespace headwise::model::threads_test
