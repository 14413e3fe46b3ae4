// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/layer/normalise.hpp>

#include <gtest/gtest.h>

#include "golden/smollm2_case.hpp"
#include "support/published.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace headwise {
namespace {

using golden::Tensor;

/// Chunk `chunk` of one context length under one attention, token by token and in the mean.
void check_chunk(const published::StoredDecoder& decoder, const golden::Tensors& nll, const std::string& name,
                 std::size_t chunk, const layer::Rolling& attention) {
  SCOPED_TRACE(name);
  const Tensor& expected = nll.at("out.nll_" + name);
  const std::size_t length = std::size_t(expected.dim(1)) + 1;
  const auto ids = golden::tokens_of(nll.at("in.ids"));
  const auto got = published::likelihood(
      decoder, std::span<const TokenId>(ids).subspan(chunk * length, length), attention);
  ASSERT_EQ(got.size(), length - 1);
  double mean = 0, wanted = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double e = expected.at(Index(chunk), Index(i));
    EXPECT_NEAR(got[i], e, 0.005) << "token " << i + 1;
    mean += got[i] / double(got.size());
    wanted += e / double(got.size());
  }
  EXPECT_NEAR(mean, wanted, 2e-4);
}

/// Dense attention, and windows with and without sinks in its place. Some chunks of each context: all of
/// them, with their means, are what examples/perplexity prints.
TEST(Smollm2Golden, LikelihoodsAgreeUnderSwappedAttention) {
  if (const auto missing = golden::smollm2_missing(); !missing.empty()) GTEST_SKIP() << missing;
  const auto decoder = published::load_stored_llama(golden::smollm2_file().string());
  const auto nll = golden::smollm2_tensors("nll");
  constexpr Index all = 1 << 20;
  check_chunk(decoder, nll, "ctx512_dense", 0, {.window = all});
  check_chunk(decoder, nll, "ctx512_win64_sink0", 1, {.window = 64});
  check_chunk(decoder, nll, "ctx512_win64_sink4", 2, {.window = 64, .sinks = 4});
  check_chunk(decoder, nll, "ctx512_win256_sink0", 3, {.window = 256});
  check_chunk(decoder, nll, "ctx512_win256_sink4", 7, {.window = 256, .sinks = 4});
  check_chunk(decoder, nll, "ctx1024_win256_sink4", 3, {.window = 256, .sinks = 4});
}

/// What every layer would predict: its residual stream through the final norm and the output matrix.
TEST(Smollm2Golden, EveryLayersPredictionAgrees) {
  if (const auto missing = golden::smollm2_missing(); !missing.empty()) GTEST_SKIP() << missing;
  const auto decoder = published::load_stored_llama(golden::smollm2_file().string());
  const auto lens = golden::smollm2_tensors("lens");
  Matrix<float> gain;
  decoder.for_each_parameter([&](std::string_view name, const auto& parameter) {
    if constexpr (requires { parameter.value; }) {
      if (name == "layers.norm.weight") gain = parameter.value;
    }
  });
  ASSERT_EQ(gain.cols(), decoder.options().d_model);
  const auto at = [&](const char* name, Index layer, Index i) { return lens.at(name).at(layer, i); };
  (void)decoder.states(golden::tokens_of(lens.at("in.ids")), {}, mask::Causal{}, score::None{},
                       [&](Index layer, const Matrix<float>& x) {
                         const Matrix<float> logits =
                             decoder.logits(rms_norm(x, gain, decoder.options().norm_eps));
                         for (Index i = 0; i < logits.rows(); ++i) {
                           SCOPED_TRACE("layer " + std::to_string(layer) + " token " + std::to_string(i));
                           Index best = 0;
                           const double top = double(logits.row(i).maxCoeff(&best));
                           if (at("out.top1_margin", layer, i) >= 1e-3) {
                             EXPECT_EQ(double(best), at("out.top1", layer, i));
                           }
                           EXPECT_NEAR(top, at("out.top1_logit", layer, i), 1e-3);
                           double sum = 0, weighted = 0;
                           for (Index j = 0; j < logits.cols(); ++j) {
                             const double e = std::exp(double(logits(i, j)) - top);
                             sum += e;
                             weighted += e * (double(logits(i, j)) - top);
                           }
                           EXPECT_NEAR(1 / sum, at("out.top1_prob", layer, i), 1e-3);
                           EXPECT_NEAR(std::log(sum) - weighted / sum, at("out.entropy", layer, i), 2e-3);
                         }
                       });
}

}  // namespace
}  // namespace headwise
