#include <headwise/layer/longformer_attention.hpp>
#include <headwise/mask/none.hpp>

#include <gtest/gtest.h>

#include "support/any_mask.hpp"
#include "support/check.hpp"
#include "support/heads.hpp"
#include "support/pattern_laws.hpp"

#include <map>

namespace headwise::layer {
namespace {

using check::near;
using check::random;

/// x W^T + b in plain loops.
reference::Matrix affine(const Matrix<double>& x, const Matrix<double>& weight, const Matrix<double>& bias) {
  reference::Matrix y(x.rows(), weight.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index o = 0; o < weight.rows(); ++o) {
      y(i, o) = bias(0, o);
      for (Index c = 0; c < x.cols(); ++c) y(i, o) += x(i, c) * weight(o, c);
    }
  }
  return y;
}

TEST(LongformerAttention, ProjectsGlobalTokensOnTheirOwn) {
  const Index length = 30, d_model = 8, reach = 2;
  Rng rng(1);
  LongformerAttention<double> layer({.d_model = d_model, .heads = 2}, rng);
  std::map<std::string, Matrix<double>> weights;
  std::uint64_t seed = 10;
  layer.for_each_parameter([&](std::string_view name, Parameter<double>& parameter) {
    if (name.ends_with("bias")) parameter.value = random(1, d_model, ++seed);
    weights[std::string(name)] = parameter.value;
  });
  ASSERT_EQ(weights.size(), 14U);
  LongformerPattern pattern{.reach = reach, .global = std::vector<bool>(std::size_t(length), false)};
  pattern.global[0] = pattern.global[17] = true;
  const auto x = random(length, d_model, 2);
  const check::AnyMask all = [](Index, Index) { return true; };

  const auto projected = [&](const std::string& name) {
    return affine(x, weights.at(name + ".weight"), weights.at(name + ".bias"));
  };
  const auto attended = [&](const std::string& prefix, std::function<bool(Index, Index)> allows) {
    return reference::attention(projected(prefix + "query"), projected(prefix + "key"),
                                projected(prefix + "value"), 2, 2, [&](Index) {
                                  reference::Problem problem;
                                  problem.allows = allows;
                                  return problem;
                                });
  };
  const auto is_global = [](Index i) { return i == 0 || i == 17; };
  const reference::Matrix heads =
      attended(
          "", [&](Index q, Index k) { return !is_global(q) && (std::abs(q - k) <= reach || is_global(k)); }) +
      attended("global_", [&](Index q, Index) { return is_global(q); });
  const auto expected = affine(heads, weights.at("output.weight"), weights.at("output.bias"));

  EXPECT_TRUE(near(layer(x, pattern, {}, all), expected, 1e-12));
}

TEST(LongformerAttention, RefusesHeadsThatDoNotFit) {
  Rng rng(1);
  EXPECT_EQ(check::refusal([&] { (void)LongformerAttention<double>({.d_model = 8, .heads = 3}, rng); }),
            "LongformerAttention: d_model is 8, expected a multiple of 3 (heads)");
}

}  // namespace
}  // namespace headwise::layer
