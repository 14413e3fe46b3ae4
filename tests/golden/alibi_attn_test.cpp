#include <headwise/mask/causal.hpp>
#include <headwise/score/alibi.hpp>

#include "golden/attention_case.hpp"

namespace headwise {
namespace {

/// out.bias [H, L, L], at every pair, masked or not.
void check_bias(const golden::Case& each, Index heads, Index length) {
  std::vector<double> bias;
  for (Index h = 0; h < heads; ++h) {
    Context context;
    context.head = h;
    context.heads = heads;
    const auto bound = score::Alibi(heads).bind<double>(context);
    for (Index i = 0; i < length; ++i)
      for (Index j = 0; j < length; ++j) bias.push_back(bound(0.0, Position(i), Position(j)));
  }
  EXPECT_TRUE(golden::match(golden::Tensor({heads, length, length}, std::move(bias)), each.tensor("out.bias"),
                            each.tolerance()));
}

TEST(AlibiAttnGolden, BiasOutputAndLogSumExpAgree) {
  for (const golden::Case& each : golden::cases("alibi_attn")) {
    SCOPED_TRACE(each.name());
    const auto unknown = each.settings_besides({"B", "D", "H", "L", "causal", "scale"});
    if (!unknown.empty() || !each.flag("causal")) {
      golden::skip(each, "not causal, or other settings: " + unknown);
      continue;
    }
    const golden::AttentionCase attention(each);
    if (each.has("out.bias")) check_bias(each, attention.heads, attention.q_len);
    attention.expect(attention.options(), mask::Causal{}, score::Alibi(attention.heads));
  }
}

}  // namespace
}  // namespace headwise
