// Multi-head attention with its projections, which are plain loops here; so is their chain rule.
// The verb is compiled for one instruction set only; sdpa_test.cpp covers them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/attention/weights.hpp>

#include "golden/attention_case.hpp"
#include "golden/dense_bias.hpp"
#include "support/reference.hpp"

namespace headwise {
namespace {

using Weights = Matrix<double>;

Weights transposed(const Weights& a) { return a.transpose(); }

/// x W^T + b, b [1, out] or empty.
Weights affine(const Weights& x, const Weights& weight, const Weights& bias) {
  Weights y = reference::product(x, transposed(weight));
  for (Index i = 0; i < y.rows() && bias.size() > 0; ++i) y.row(i) += bias;
  return y;
}

/// The module's parameters, or their gradients: both are named after "param." or "grad.".
struct Projections {
  Weights query, key, value, in_bias, out, out_bias;

  Projections(const golden::Case& each, const std::string& role) {
    if (each.has(role + "in_proj_weight")) {
      const Weights stacked = each.rows(role + "in_proj_weight");
      const Index width = stacked.rows() / 3;
      query = stacked.topRows(width);
      key = stacked.middleRows(width, width);
      value = stacked.bottomRows(width);
    } else {
      query = each.rows(role + "q_proj_weight");
      key = each.rows(role + "k_proj_weight");
      value = each.rows(role + "v_proj_weight");
    }
    if (each.has(role + "in_proj_bias")) in_bias = each.rows(role + "in_proj_bias");
    out = each.rows(role + "out_proj.weight");
    if (each.has(role + "out_proj.bias")) out_bias = each.rows(role + "out_proj.bias");
  }

  Weights bias(Index part) const {
    const Index width = in_bias.cols() / 3;
    return in_bias.size() == 0 ? Weights() : Weights(in_bias.middleCols(part * width, width));
  }
};

/// In this module's boolean masks 1 means masked out. attn_mask [Lq, Lk] or [B * H, Lq, Lk], padding [B, Lk].
mask::Dense allowed(const golden::Case& each, Index batch, Index heads, Index q_len, Index k_len) {
  const bool has_mask = each.has("in.attn_mask") && each.dtype("in.attn_mask") == "U8";
  Matrix<bool> allowed(batch * heads * q_len, k_len);
  for (Index row = 0; row < allowed.rows(); ++row) {
    const Index b = row / (heads * q_len), block = row / q_len, i = row % q_len;
    for (Index j = 0; j < k_len; ++j) {
      const bool hidden = has_mask && each.tensor("in.attn_mask").broadcast(0, block, i, j) != 0;
      const bool padded = each.has("in.key_padding_mask") && each.tensor("in.key_padding_mask").at(b, j) != 0;
      allowed(row, j) = !hidden && !padded;
    }
  }
  return mask::Dense(std::move(allowed), {.heads = heads, .sequences = batch});
}

/// A float attn_mask is added to the scaled scores; without one, a single zero is.
auto added(const golden::Case& each, Index batch, Index heads) {
  if (!each.has("in.attn_mask") || each.dtype("in.attn_mask") == "U8") {
    return score::dense_bias(Matrix<double>(Matrix<double>::Zero(1, 1)));
  }
  const bool per_head = each.tensor("in.attn_mask").rank() == 3;
  return score::dense_bias(each.rows("in.attn_mask"),
                           {.heads = per_head ? heads : 1, .sequences = per_head ? batch : 1});
}

void expect_gradient(const golden::Case& each, const std::string& of, const Weights& got) {
  if (each.has("grad." + of)) {
    EXPECT_TRUE(golden::match(got, each.rows("grad." + of), each.tolerance())) << "gradient of " << of;
  }
}

/// The gradients of W and b in y = x W^T + b.
void expect_projection(const Weights& x, const Weights& d_y, const Weights& weight, const Weights& bias,
                       const golden::Case& each, const char* which) {
  const auto d_weight = reference::product(transposed(d_y), x);
  EXPECT_TRUE(golden::match(d_weight, weight, each.tolerance())) << "gradient of the weight of " << which;
  if (bias.size() == 0) return;
  EXPECT_TRUE(golden::match(Weights(d_y.colwise().sum()), bias, each.tolerance()))
      << "of the bias of " << which;
}

void check_case(const golden::Case& each) {
  const bool self = !each.has("in.key");
  const Index batch = each.tensor("in.query").dim(0), heads = each.integer("num_heads");
  const Weights x_query = each.rows("in.query"), x_key = self ? x_query : each.rows("in.key");
  const Weights x_value = each.has("in.value") ? each.rows("in.value") : x_key;
  const Index q_len = x_query.rows() / batch, k_len = x_key.rows() / batch;
  const Projections param(each, "param.");
  const Weights query = affine(x_query, param.query, param.bias(0));
  const Weights key = affine(x_key, param.key, param.bias(1));
  const Weights value = affine(x_value, param.value, param.bias(2));
  const AttendOptions options{.heads = heads,
                              .query_rows = RaggedRows::uniform(batch, q_len),
                              .key_rows = RaggedRows::uniform(batch, k_len)};
  const auto mask = allowed(each, batch, heads, q_len, k_len);
  const auto score = added(each, batch, heads);

  const auto attended = attend_with_lse(query, key, value, options, mask, score);
  EXPECT_TRUE(golden::match(affine(attended.output, param.out, param.out_bias), each.rows("out.o"),
                            each.tolerance()));
  if (each.has("out.weights")) {
    const auto weights = attention_weights(query, key, options, mask, score);
    EXPECT_TRUE(golden::match(weights, each.rows("out.weights"), each.tolerance())) << "weights";
  }
  if (!each.has("in.dout")) return;

  const Projections grad(each, "grad.");
  const Weights d_y = each.rows("in.dout");
  expect_projection(attended.output, d_y, grad.out, grad.out_bias, each, "the output");
  const auto d =
      attend_backward(query, key, value, attended, reference::product(d_y, param.out), options, mask, score);
  expect_projection(x_query, d.query, grad.query, grad.bias(0), each, "query");
  expect_projection(x_key, d.key, grad.key, grad.bias(1), each, "key");
  expect_projection(x_value, d.value, grad.value, grad.bias(2), each, "value");
  const Weights d_query = reference::product(d.query, param.query),
                d_key = reference::product(d.key, param.key);
  const Weights d_value = reference::product(d.value, param.value);
  expect_gradient(each, "query", self ? Weights(d_query + d_key + d_value) : d_query);
  expect_gradient(each, "key", each.has("in.value") ? d_key : Weights(d_key + d_value));
  expect_gradient(each, "value", d_value);
}

TEST(MhaGolden, OutputsWeightsAndGradientsAgree) {
  for (const golden::Case& each : golden::cases("mha")) {
    SCOPED_TRACE(each.name());
    const auto unknown =
        each.settings_besides({"B", "Lk", "Lq", "add_bias_kv", "add_zero_attn", "bias", "embed_dim", "kdim",
                               "masks", "num_heads", "self_attention", "vdim"});
    if (!unknown.empty() || each.flag("add_bias_kv") || each.flag("add_zero_attn")) {
      golden::skip(each, "added keys, or other settings: " + unknown);
      continue;
    }
    check_case(each);
  }
}

}  // namespace
}  // namespace headwise
