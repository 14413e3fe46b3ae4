// Each policy is compiled for one instruction set only; sdpa_test.cpp covers them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/score/alibi.hpp>
#include <headwise/score/none.hpp>
#include <headwise/score/soft_cap.hpp>

#include "golden/attention_case.hpp"
#include "golden/dense_bias.hpp"

namespace headwise {
namespace {

/// rel_bias [H, 2 n + 1], added as rel_bias[h, key - query + n], written out for every pair; and its
/// gradient.
void check_relative_bias(const golden::AttentionCase& attention, const AttendOptions& options,
                         const mask::Dense& mask) {
  const golden::Tensor& table = attention.data.tensor("in.rel_bias");
  const Index middle = (table.dim(1) - 1) / 2;
  Matrix<double> bias(attention.heads * attention.q_len, attention.k_len);
  for (Index h = 0; h < attention.heads; ++h)
    for (Index i = 0; i < attention.q_len; ++i)
      for (Index j = 0; j < attention.k_len; ++j)
        bias(h * attention.q_len + i, j) = table.at(h, j - i + middle);

  const auto learned = attention.expect(options, mask, score::dense_bias(bias, {.heads = attention.heads}));
  if (!attention.data.has("grad.rel_bias")) return;
  Matrix<double> d_table = Matrix<double>::Zero(table.dim(0), table.dim(1));
  for (Index h = 0; h < attention.heads; ++h)
    for (Index i = 0; i < attention.q_len; ++i)
      for (Index j = 0; j < attention.k_len; ++j)
        d_table(h, j - i + middle) += learned[0](h * attention.q_len + i, j);
  EXPECT_TRUE(golden::match(d_table, attention.data.rows("grad.rel_bias"), attention.data.tolerance()));
}

void check_alibi(const golden::AttentionCase& attention, AttendOptions options, const mask::Dense& mask) {
  if (attention.q_len != attention.k_len) options.query_offset = 0;
  const Matrix<double> slopes = attention.data.rows("in.slopes").transpose();  // [H, 1]
  const auto learned = attention.expect(options, mask, score::Alibi(slopes));
  if (!attention.data.has("grad.slopes")) return;
  const Matrix<double> d_slopes = learned[0].transpose();
  EXPECT_TRUE(golden::match(d_slopes, attention.data.rows("grad.slopes"), attention.data.tolerance()));
}

/// The score that the case names, behind its matrix of bools; false when it is not one of these.
bool check_score(const golden::AttentionCase& attention) {
  const golden::Case& each = attention.data;
  const golden::Tensor all({1}, {1.0});
  const auto mask = golden::dense_mask(each.has("in.mask") ? each.tensor("in.mask") : all, attention.k_len);
  const AttendOptions options = attention.options();
  const std::string score_mod = each.text_or("score_mod", "");
  const bool caps = each.has_setting("softcap");
  if (score_mod.empty() && !caps) {
    attention.expect(options, mask, score::None{});
  } else if (score_mod.empty()) {
    attention.expect(options, mask, score::SoftCap{.limit = each.number("softcap")});
  } else if (score_mod == "s + slope[h]*(j-i)" && !caps) {
    check_alibi(attention, options, mask);
  } else if (score_mod.starts_with("s + rel_bias[h, j-i+") && !caps) {
    check_relative_bias(attention, options, mask);
  } else {
    return false;
  }
  return true;
}

TEST(FlexGolden, ScoresBehindMatricesOfBoolsAgree) {
  for (const golden::Case& each : golden::cases("flex")) {
    SCOPED_TRACE(each.name());
    const auto unknown = each.settings_besides(golden::flex_settings);
    const bool mask_is_there = each.has("in.mask") || each.text("mask") == "none";
    if (!unknown.empty() || !mask_is_there || !check_score(golden::AttentionCase(each))) {
      golden::skip(each, "score " + each.text_or("score_mod", "") + ", other settings: " + unknown);
    }
  }
}

}  // namespace
}  // namespace headwise
