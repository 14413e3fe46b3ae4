#include "golden/attention_case.hpp"
#include "golden/dense_bias.hpp"

namespace headwise {
namespace {

TEST(SdpaGolden, MatricesOfBiasesAgreeAndSoDoTheirGradients) {
  for (const golden::Case& each : golden::cases("sdpa")) {
    SCOPED_TRACE(each.name());
    if (!each.has("in.bias")) continue;  // sdpa_test.cpp
    const auto unknown = each.settings_besides(golden::sdpa_settings);
    if (!unknown.empty()) {
      golden::skip(each, "other settings: " + unknown);
      continue;
    }
    const golden::AttentionCase attention(each);
    const golden::Tensor all({1}, {1.0});
    const auto mask = golden::dense_mask(each.has("in.mask") ? each.tensor("in.mask") : all, attention.k_len);
    const golden::Tensor& bias = each.tensor("in.bias");
    const auto learned = attention.expect(attention.options(), mask, golden::dense_bias(bias));
    if (!each.has("grad.bias")) continue;
    const golden::Tensor got(bias.shape(), {learned[0].data(), learned[0].data() + learned[0].size()});
    EXPECT_TRUE(golden::match(got, each.tensor("grad.bias"), each.tolerance())) << "gradient of bias";
  }
}

}  // namespace
}  // namespace headwise
