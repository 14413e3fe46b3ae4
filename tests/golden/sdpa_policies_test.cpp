// Each policy is compiled for one instruction set only; sdpa_test.cpp covers them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/mask/band.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/key_padding.hpp>
#include <headwise/mask/sliding_window.hpp>
#include <headwise/score/none.hpp>

#include "golden/attention_case.hpp"

namespace headwise::sdpa_policies_test {
namespace {

/// The flags of a [B, 1, 1, Lk] mask, key row by key row.
mask::KeyPadding key_padding(const golden::Tensor& tensor) {
  std::vector<bool> real;
  for (double value : tensor.values()) real.push_back(value != 0);
  return mask::KeyPadding(real);
}

/// Runs the policy that the case's mode names; false when no policy does.
bool check_policy(const golden::AttentionCase& attention) {
  const golden::Case& each = attention.data;
  const std::string mode = each.text("mode");
  AttendOptions options = attention.options();
  if (mode == "causal_topleft" || mode == "causal_bottomright") {
    options.query_offset = mode == "causal_topleft" ? 0 : attention.k_len - attention.q_len;
    attention.expect(options, mask::Causal{}, score::None{});
  } else if (mode == "window_causal" && attention.q_len == attention.k_len) {
    attention.expect(options, mask::SlidingWindow{.width = each.integer("window")}, score::None{});
  } else if (mode == "window_sym" && attention.q_len == attention.k_len) {
    const Index window = each.integer("window");
    attention.expect(options, mask::Band{.left = window, .right = window}, score::None{});
  } else if (mode == "keypad") {
    attention.expect(options, key_padding(each.tensor("in.mask")), score::None{});
  } else {
    return false;
  }
  return true;
}

TEST(SdpaGolden, PoliciesAgree) {
  for (const golden::Case& each : golden::cases("sdpa")) {
    SCOPED_TRACE(each.name());
    const auto unknown = each.settings_besides(golden::sdpa_settings);
    if (!unknown.empty()) {
      golden::skip(each, "other settings: " + unknown);
      continue;
    }
    const bool given_as_numbers = each.text("mode").starts_with("boolmask") || each.has("in.bias");
    if (each.text("mode") == "full" || given_as_numbers) continue;  // sdpa_test.cpp, sdpa_bias_test.cpp
    if (!check_policy(golden::AttentionCase(each)))
      golden::skip(each, "no policy for mode " + each.text("mode"));
  }
}

}  // namespace
}  // namespace headwise::sdpa_policies_test
