// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/layer/multi_head_attention.hpp>
#include <headwise/mask/causal.hpp>

#include <gtest/gtest.h>

#include "layer/parameters.hpp"
#include "support/check.hpp"
#include "support/reference.hpp"
#include "support/thrown.hpp"

#include <utility>

namespace headwise::layer {
namespace {

namespace hw = headwise;

using check::near;
using check::random;
using check::thrown;
using reference::product;

/// A projection by its parameters, by plain loops.
Matrix<double> projected(const Matrix<double>& x, const std::map<std::string, Matrix<double>>& p,
                         const std::string& name) {
  Matrix<double> y = product(x, p.at(name + ".weight").transpose());
  if (p.contains(name + ".bias")) y.rowwise() += p.at(name + ".bias").row(0);
  return y;
}

/// What the layer must give for one sequence, head by head.
Matrix<double> expected(const MultiHeadAttention<double>& layer, const Matrix<double>& x,
                        const Matrix<double>& key, const Matrix<double>& value,
                        const reference::Problem& problem = {}) {
  const auto& o = layer.options();
  const auto p = check::parameters_of(layer);
  const Matrix<double> q = projected(x, p, "query"), k = projected(key, p, "key"),
                       v = projected(value, p, "value");
  Matrix<double> heads(x.rows(), o.heads * o.value_dim);
  for (Index h = 0; h < o.heads; ++h) {
    const Index kv = h / (o.heads / o.kv_heads);
    heads.middleCols(h * o.value_dim, o.value_dim) = reference::attention(
        q.middleCols(h * o.head_dim, o.head_dim), k.middleCols(kv * o.head_dim, o.head_dim),
        v.middleCols(kv * o.value_dim, o.value_dim), problem);
  }
  return projected(heads, p, "output");
}

MultiHeadAttention<double> made(const MultiHeadAttentionOptions& options) {
  MultiHeadAttention<double> layer(options, Initial::zeros());
  check::randomise(layer, 7);
  return layer;
}

reference::Problem causal() {
  reference::Problem problem;
  problem.allows = [](Index q, Index k) { return k <= q; };
  return problem;
}

reference::Problem scaled(double scale) {
  reference::Problem problem;
  problem.scale = scale;
  return problem;
}

TEST(MultiHeadAttention, AttendsInEveryHeadOfItsProjections) {
  Rng rng(1);
  // [docs layer/multi_head_attention]
  hw::layer::MultiHeadAttention<double> attention({.d_model = 12, .heads = 3}, rng);
  const hw::Matrix<double> x = hw::normal(65, 12, 1.0, rng);
  const hw::Matrix<double> y = attention(x, hw::mask::Causal{});  // [65, 12]
  // [docs end]
  EXPECT_TRUE(near(y, expected(attention, x, x, x, causal()), 1e-12));
}

TEST(MultiHeadAttention, TakesAnySizesThatFit) {
  const auto layer = made({.d_model = 10,
                           .heads = 4,
                           .kv_heads = 2,
                           .head_dim = 5,
                           .value_dim = 3,
                           .key_width = 6,
                           .value_width = 7,
                           .query_bias = true,
                           .value_bias = true,
                           .output_bias = true,
                           .scale = 0.3});
  for (Index rows : {0, 1, 63, 64, 65}) {
    const auto x = random(rows, 10, 2), key = random(9, 6, 3), value = random(9, 7, 4);
    EXPECT_TRUE(near(layer.across(x, key, value), expected(layer, x, key, value, scaled(0.3)), 1e-12));
  }
}

TEST(MultiHeadAttention, KeepsTheSequencesOfABatchApart) {
  const auto layer = made({.d_model = 8, .heads = 2});
  const auto x = random(7, 8, 2);
  const Matrix<double> y = layer(x, {.query_rows = RaggedRows::from_lengths({3, 0, 4})}, mask::Causal{});
  const Matrix<double> first = x.topRows(3), last = x.bottomRows(4);
  EXPECT_TRUE(near(y.topRows(3), expected(layer, first, first, first, causal()), 1e-12));
  EXPECT_TRUE(near(y.bottomRows(4), expected(layer, last, last, last, causal()), 1e-12));
}

TEST(MultiHeadAttention, ReadsBothStorageOrders) {
  const auto layer = made({.d_model = 8, .heads = 2});
  const auto x = random(5, 8, 2);
  const Eigen::MatrixXd columns = x;
  EXPECT_TRUE(near(layer(columns), layer(x), 1e-14));
}

TEST(MultiHeadAttention, GivesTokenByTokenWhatOneCallGives) {
  const auto layer = made({.d_model = 8, .heads = 4, .kv_heads = 2});
  const auto x = random(6, 8, 2);
  KeyValueCache<double> cache;
  Matrix<double> y(6, 8);
  for (Index t : {0, 3, 4, 5}) {
    const Index rows = t == 0 ? 3 : 1;
    auto [output, longer] = layer(x.middleRows(t, rows), std::move(cache), mask::Causal{});
    y.middleRows(t, rows) = output;
    cache = std::move(longer);
  }
  EXPECT_TRUE(near(y, expected(layer, x, x, x, causal()), 1e-12));
}

TEST(MultiHeadAttention, LooksAtWhatWasRemembered) {
  const auto layer = made({.d_model = 8, .heads = 2, .key_width = 5, .value_width = 5});
  const auto x = random(3, 8, 2), memory = random(9, 5, 3);
  EXPECT_TRUE(near(layer.across(x, layer.remembered(memory)), expected(layer, x, memory, memory), 1e-12));
}

TEST(MultiHeadAttention, NamesWhatDoesNotFit) {
  const auto message = [](const MultiHeadAttentionOptions& options) {
    return thrown<ShapeError>([&] { MultiHeadAttention<double>(options, Initial::zeros()); });
  };
  EXPECT_EQ(message({.d_model = 10, .heads = 4}),
            "MultiHeadAttention: d_model is 10, expected a multiple of 4 (heads); or set .head_dim");
  EXPECT_EQ(message({.d_model = 12, .heads = 4, .kv_heads = 3}),
            "MultiHeadAttention: heads is 4, expected a multiple of 3 (kv_heads)");
  EXPECT_EQ(message({.d_model = 12, .heads = 4, .rotary = position::Rotary({.head_dim = 4})}),
            "MultiHeadAttention: head_dim of rotary is 4, expected 3");

  const auto layer = made({.d_model = 8, .heads = 2});
  EXPECT_EQ(thrown<ShapeError>([&] { (void)layer(random(2, 7, 1)); }),
            "MultiHeadAttention: columns of x is 7, expected 8");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)layer(random(1, 7, 1), KeyValueCache<double>()); }),
            "MultiHeadAttention: columns of x is 7, expected 8");
  EXPECT_EQ(
      thrown<ShapeError>([&] { (void)layer.across(random(2, 8, 1), random(3, 6, 1), random(3, 8, 1)); }),
      "MultiHeadAttention: columns of key_source is 6, expected 8");
  EXPECT_EQ(
      thrown<ShapeError>([&] { (void)layer.across(random(2, 8, 1), random(3, 8, 1), random(3, 6, 1)); }),
      "MultiHeadAttention: columns of value_source is 6, expected 8");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)layer.remembered(random(3, 6, 1)); }),
            "MultiHeadAttention: columns of source is 6, expected 8");
  EXPECT_EQ(thrown<ShapeError>([&] { (void)layer(random(2, 8, 1), {.heads = 4}); }),
            "MultiHeadAttention: heads of the call is 4, expected 2");
  EXPECT_EQ(
      thrown<ShapeError>([&] { (void)layer(random(1, 8, 1), KeyValueCache<double>(), {.query_offset = 3}); }),
      "MultiHeadAttention: positions or key_rows are given together with a cache, expected neither; the "
      "cache knows "
      "where its rows stand");
}

}  // namespace
}  // namespace headwise::layer
