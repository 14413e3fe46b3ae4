// Each policy is compiled for one instruction set only; sdpa_test.cpp covers them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/mask/algebra.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/documents.hpp>
#include <headwise/mask/prefix.hpp>
#include <headwise/mask/sliding_window.hpp>
#include <headwise/score/none.hpp>
#include <headwise/score/soft_cap.hpp>

#include "golden/attention_case.hpp"

namespace headwise {
namespace {

/// Runs the masks that the case names as policies; false when no policy does.
bool check_policy(const golden::AttentionCase& attention) {
  const golden::Case& each = attention.data;
  const std::string rule = each.text("mask");
  const bool caps = each.has_setting("softcap");
  const AttendOptions options = attention.options();
  if (each.has_setting("score_mod") || attention.q_len != attention.k_len) return false;
  if (rule == "causal" && caps) {
    attention.expect(options, mask::Causal{}, score::SoftCap{.limit = each.number("softcap")});
  } else if (rule == "causal & (i-j<=window) & (doc[b,i]==doc[b,j])" && !caps) {
    const auto ids = each.integers("in.doc_id");  // [B, L], the rows of the packed batch
    const mask::Documents documents(std::vector<TokenId>(ids.begin(), ids.end()));
    const mask::SlidingWindow window{.width = each.integer("window") + 1};
    attention.expect(options, window && documents, score::None{});
  } else if (rule == "(j<prefix[b]) | causal" && !caps) {
    const mask::PrefixPerSequence prefix{.lengths = each.integers("in.prefix_len")};
    attention.expect(options, prefix || mask::Causal{}, score::None{});
  } else {
    return false;
  }
  return true;
}

/// Masks that are not policies here are checked as matrices of bools, in flex_test.cpp.
TEST(FlexGolden, PoliciesAgree) {
  Index checked = 0;
  for (const golden::Case& each : golden::cases("flex")) {
    SCOPED_TRACE(each.name());
    if (!each.settings_besides(golden::flex_settings).empty()) continue;
    checked += check_policy(golden::AttentionCase(each)) ? 1 : 0;
  }
  EXPECT_GT(checked, 0) << "the small copy has at least one case";
}

}  // namespace
}  // namespace headwise
