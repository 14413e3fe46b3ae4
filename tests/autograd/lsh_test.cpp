#include <headwise/attention/lsh_backward.hpp>
#include <headwise/autograd/elementwise.hpp>
#include <headwise/autograd/lsh.hpp>
#include <headwise/autograd/product.hpp>
#include <headwise/autograd/reversible.hpp>
#include <headwise/autograd/rows.hpp>
#include <headwise/layer/lsh_attention.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/lsh_any_mask.hpp"

#include <utility>
#include <vector>

namespace headwise::lsh_test {
namespace {

using check::near;
using check::random;

check::AnyMask causal() {
  return [](Index q, Index k) { return k <= q; };
}

TEST(RecordedLsh, IsTheOneBackwardOfTheCall) {
  const auto q = random(20, 8, 1), v = random(20, 6, 2), d = random(20, 6, 3);
  const auto rotations =
      lsh_rotations<double>({.factors = {6}, .rounds = 2, .heads = 2, .head_dim = 4, .seed = 4});
  const AttendOptions options{.heads = 2};
  const LshOptions lsh{.chunk_len = 4};
  autograd::Tape<double> tape;
  const auto query = tape.input(q), value = tape.input(v);
  const LshBuckets buckets = lsh_buckets(query, rotations);
  const auto y = attend_lsh(query, value, buckets, lsh, options, causal()).output;
  EXPECT_EQ(tape.size(), 3u);
  const auto attended = attend_lsh(q, v, buckets, lsh, options, causal());
  EXPECT_EQ(y.value(), attended.output);
  const auto expected = attend_lsh_backward(q, v, buckets, lsh, attended, d, options, causal());
  const auto got = backward(y, d);
  EXPECT_EQ(got.of(query), expected.query);
  EXPECT_EQ(got.of(value), expected.value);
}

TEST(RecordedLsh, ALayerWithoutFactorsHashesEachTextByItsLength) {
  const auto layer_with = [](std::vector<Index> factors) {
    Rng rng(1);
    return layer::LshAttention<double>(
        {.d_model = 8, .heads = 2, .lsh = {.chunk_len = 4}, .factors = std::move(factors), .rounds = 2}, rng);
  };
  const auto any = layer_with({});
  const Matrix<double> x = random(28, 8, 2);
  const AttendOptions batch{.query_rows = RaggedRows::from_lengths({4, 24})};
  autograd::Tape<double> tape;
  const Matrix<double> y = any(tape.input(x), batch, causal()).value();
  // 2 buckets for one chunk; 8, which is at most twice the 6 chunks.
  EXPECT_TRUE(near(y.topRows(4), layer_with({2})(Matrix<double>(x.topRows(4)), {}, causal()), 1e-12));
  EXPECT_TRUE(near(y.bottomRows(24), layer_with({8})(Matrix<double>(x.bottomRows(24)), {}, causal()), 1e-12));
}

/// A layer of LSH attention as the f of a reversible layer.
struct Attend {
  layer::LshAttention<double> attention;
  LshBuckets remember(const Matrix<double>& x) const { return attention.buckets(x); }
  auto operator()(const Sequence auto& x, const LshBuckets& buckets) const {
    return attention(x, buckets, AttendOptions{}, causal());
  }
};

struct Feed {
  Parameter<double> weight;
  auto operator()(const Sequence auto& x) const { return relu(multiply(x, weight)); }
};

TEST(RecordedLsh, ReversibleLayersOfItHaveTheGradientsOfTheStoredVersion) {
  Rng rng(1);
  std::vector<layer::ReversiblePair<Attend, Feed>> layers;
  for (Index i = 0; i < 3; ++i)
    layers.push_back(layer::reversible_pair(Attend{layer::LshAttention<double>({.d_model = 8,
                                                                                .heads = 2,
                                                                                .lsh = {.chunk_len = 4},
                                                                                .factors = {6},
                                                                                .rounds = 2,
                                                                                .seed = 7,
                                                                                .layer = i},
                                                                               rng)},
                                            Feed{{random(8, 8, std::uint64_t(10 + i))}}));
  const Matrix<double> x = random(24, 8, 2), d = random(24, 16, 3);
  autograd::Tape<double> stored, thrifty;
  const auto x_stored = stored.input(x), x_thrifty = thrifty.input(x);
  auto y1 = add(x_stored, x_stored), y2 = add(x_stored, x_stored);
  for (const auto& each : layers) {
    y1 = add(y1, each.f(y2, each.f.attention.buckets(y2)));
    y2 = add(y2, each.g(y1));
  }
  const auto expected = backward(concatenate_columns(y1, y2), d);
  const auto doubled = add(x_thrifty, x_thrifty);
  const auto y = reversible(layers, doubled, doubled);
  EXPECT_EQ(thrifty.size(), 3u);
  const auto got = backward(y, d);
  EXPECT_TRUE(near(got.of(x_thrifty), expected.of(x_stored), 1e-10, 1e-10));
  for (const auto& each : layers) {
    EXPECT_TRUE(near(got.of(each.g.weight), expected.of(each.g.weight), 1e-10, 1e-10));
    each.f.attention.for_each_parameter([&](std::string_view name, const auto& parameter) {
      EXPECT_TRUE(near(got.of(parameter), expected.of(parameter), 1e-10, 1e-10)) << name;
    });
  }
}

}  // namespace
}  // namespace headwise::lsh_test
