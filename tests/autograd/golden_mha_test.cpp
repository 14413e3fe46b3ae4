// PyTorch's multi-head attention module, by our layer on a tape: values, and the gradients of every parameter
// and input.
#include <headwise/autograd/ops.hpp>
#include <headwise/layer/multi_head_attention.hpp>
#include <headwise/mask/where.hpp>
#include <headwise/score/dense_bias.hpp>

#include "support/golden.hpp"

#include <map>
#include <string>
#include <vector>

namespace headwise::golden_mha_test {
namespace {

/// The module's matrices under our layer's names, of a role: "param." or "grad.".
std::map<std::string, Matrix<double>> by_our_names(const golden::Case& each, const std::string& role) {
  std::map<std::string, Matrix<double>> result;
  const std::vector<std::string> parts{"query", "key", "value"};
  for (std::size_t i = 0; i < 3; ++i) {
    if (each.has(role + "in_proj_weight")) {
      const Matrix<double> stacked = each.rows(role + "in_proj_weight");
      const Index width = stacked.rows() / 3;
      result[parts[i] + ".weight"] = stacked.middleRows(Index(i) * width, width);
    } else {
      result[parts[i] + ".weight"] = each.rows(role + parts[i].substr(0, 1) + "_proj_weight");
    }
    if (each.has(role + "in_proj_bias")) {
      const Matrix<double> bias = each.rows(role + "in_proj_bias");
      const Index width = bias.cols() / 3;
      result[parts[i] + ".bias"] = bias.middleCols(Index(i) * width, width);
    }
  }
  result["output.weight"] = each.rows(role + "out_proj.weight");
  if (each.has(role + "out_proj.bias")) result["output.bias"] = each.rows(role + "out_proj.bias");
  return result;
}

layer::MultiHeadAttention<double> layer_of(const golden::Case& each, Index heads) {
  auto values = by_our_names(each, "param.");
  const bool bias = values.contains("query.bias");
  layer::MultiHeadAttention<double> layer({.d_model = values["query.weight"].cols(),
                                           .heads = heads,
                                           .key_width = values["key.weight"].cols(),
                                           .value_width = values["value.weight"].cols(),
                                           .query_bias = bias,
                                           .key_bias = bias,
                                           .value_bias = bias,
                                           .output_bias = values.contains("output.bias")},
                                          layer::Initial::zeros());
  layer.for_each_parameter(
      [&](std::string_view name, auto& parameter) { parameter.value = values.at(std::string(name)); });
  return layer;
}

/// In this module's boolean masks 1 means masked out.
bool allowed(const golden::Case& each, Index batch, Index block, Index query, Index key) {
  const bool boolean = each.has("in.attn_mask") && each.dtype("in.attn_mask") == "U8";
  if (boolean && each.tensor("in.attn_mask").broadcast(0, block, query, key) != 0) return false;
  return !each.has("in.key_padding_mask") || each.tensor("in.key_padding_mask").at(batch, key) == 0;
}

/// A float mask is added to the scaled scores; without one, a single zero is.
auto added(const golden::Case& each, Index batch, Index heads) {
  if (!each.has("in.attn_mask") || each.dtype("in.attn_mask") == "U8") {
    return score::dense_bias(Matrix<double>(Matrix<double>::Zero(1, 1)));
  }
  const bool per_head = each.tensor("in.attn_mask").rank() == 3;
  return score::dense_bias(each.rows("in.attn_mask"),
                           {.heads = per_head ? heads : 1, .sequences = per_head ? batch : 1});
}

void check_case(const golden::Case& each) {
  const Index batch = each.tensor("in.query").dim(0), heads = each.integer("num_heads");
  const auto layer = layer_of(each, heads);
  autograd::Tape<double> tape;
  const auto query = tape.input(each.rows("in.query"));
  const auto key = each.has("in.key") ? tape.input(each.rows("in.key")) : query;
  const auto value = each.has("in.value") ? tape.input(each.rows("in.value")) : key;
  const auto mask = mask::where([&](Index q, Index k, Index head, Index sequence) {
    return allowed(each, sequence, sequence * heads + head, q, k);
  });
  const AttendOptions options{.query_offset = 0,
                              .query_rows = RaggedRows::uniform(batch, query.rows() / batch),
                              .key_rows = RaggedRows::uniform(batch, key.rows() / batch)};
  const auto output = layer.across(query, key, value, options, mask, added(each, batch, heads));
  EXPECT_TRUE(golden::match(output.value(), each.rows("out.o"), each.tolerance()));
  if (!each.has("in.dout")) return;

  const auto gradients = backward(output, each.rows("in.dout"));
  for (const auto& [name, input] :
       std::map<std::string, autograd::Var<double>>{{"query", query}, {"key", key}, {"value", value}}) {
    if (!each.has("grad." + name)) continue;
    EXPECT_TRUE(golden::match(gradients.of(input), each.rows("grad." + name), each.tolerance())) << name;
  }
  const auto expected = by_our_names(each, "grad.");
  layer.for_each_parameter([&](std::string_view name, const auto& parameter) {
    EXPECT_TRUE(golden::match(gradients.of(parameter), expected.at(std::string(name)), each.tolerance()))
        << name;
  });
}

TEST(MhaGoldenOnTape, OutputsAndGradientsAgree) {
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
}  // namespace headwise::golden_mha_test
