#include <headwise/attention/etc_backward.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/pattern_laws.hpp"
#include "support/reference.hpp"

#include <algorithm>

namespace headwise::etc_test {
namespace {

using check::near;
using check::random;

check::AnyMask everything() {
  return [](Index, Index) { return true; };
}

/// a over b.
Matrix<double> stacked(const Matrix<double>& a, const Matrix<double>& b) {
  Matrix<double> both(a.rows() + b.rows(), a.cols());
  both << a, b;
  return both;
}

TEST(AttendEtc, IsTwoSoftmaxesOverFourPieces) {
  namespace hw = headwise;
  const Index n_long = 40, n_global = 5;
  const auto lq = random(n_long, 6, 1), gq = random(n_global, 6, 2);
  const auto lk = random(n_long, 6, 3), lv = random(n_long, 4, 4);
  const auto gk = random(n_global, 6, 5), gv = random(n_global, 4, 6);
  const auto all = everything();
  // [docs attention/etc]
  const auto pieces =
      hw::etc_pieces(hw::etc_piece(lk, lv, all), hw::etc_piece(gk, gv, all),   // long to ...
                     hw::etc_piece(gk, gv, all), hw::etc_piece(lk, lv, all));  // global to ...
  const auto [from_long, from_global] = hw::attend_etc(lq, gq, pieces, {.radius = 3});
  // [docs end]
  reference::Problem long_side;
  long_side.allows = [&](Index q, Index k) { return k >= n_long || std::abs(q - k) <= 3; };
  EXPECT_TRUE(
      near(from_long.output, reference::attention(lq, stacked(lk, gk), stacked(lv, gv), long_side), 1e-12));
  EXPECT_TRUE(near(from_global.output, reference::attention(gq, stacked(lk, gk), stacked(lv, gv)), 1e-12));
}

/// With shared weights and a radius beyond the text, ETC is BERT on both inputs joined.
TEST(AttendEtc, WithoutLimitsIsFullAttentionOverBothInputs) {
  const auto l = random(20, 4, 1), g = random(3, 4, 2);
  const auto pieces = etc_pieces(etc_piece(l, l, everything()), etc_piece(g, g, everything()),
                                 etc_piece(g, g, everything()), etc_piece(l, l, everything()));
  const auto got = attend_etc(l, g, pieces, {.radius = 20});
  const reference::Matrix whole = reference::attention(stacked(l, g), stacked(l, g), stacked(l, g));
  EXPECT_TRUE(near(stacked(got.from_long.output, got.from_global.output), whole, 1e-12));
}

/// Texts of a batch keep to themselves, and gradients are those of dense attention.
TEST(AttendEtc, ForwardAndBackwardServeRaggedBatches) {
  const auto lq = random(30, 4, 1), lk = random(30, 4, 2), lv = random(30, 3, 3), d_long = random(30, 3, 4);
  const auto gq = random(5, 4, 5), gk = random(5, 4, 6), gv = random(5, 3, 7), d_global = random(5, 3, 8);
  const std::vector<Index> long_text{0, 13, 30}, global_text{0, 2, 5};
  EtcOptions options{.global_rows = RaggedRows::from_offsets(global_text), .radius = 2};
  options.attend.query_rows = RaggedRows::from_offsets(long_text);
  const auto pieces = etc_pieces(etc_piece(lk, lv, everything()), etc_piece(gk, gv, everything()),
                                 etc_piece(gk, gv, everything()), etc_piece(lk, lv, everything()));
  const auto got = attend_etc(lq, gq, pieces, options);
  const auto gradients = attend_etc_backward(lq, gq, pieces, got, d_long, d_global, options);

  const auto text = [](const std::vector<Index>& offsets, Index row) {
    return std::upper_bound(offsets.begin(), offsets.end(), row) - offsets.begin();
  };
  const auto text_of_key = [&](Index k) { return k < 30 ? text(long_text, k) : text(global_text, k - 30); };
  reference::Problem long_side, global_side;
  long_side.allows = [&](Index q, Index k) {
    return text(long_text, q) == text_of_key(k) && (k >= 30 || std::abs(q - k) <= 2);
  };
  global_side.allows = [&](Index q, Index k) { return text(global_text, q) == text_of_key(k); };
  const auto keys = stacked(lk, gk), values = stacked(lv, gv);
  EXPECT_TRUE(near(got.from_long.output, reference::attention(lq, keys, values, long_side), 1e-12));
  EXPECT_TRUE(near(got.from_global.output, reference::attention(gq, keys, values, global_side), 1e-12));
  const auto a = reference::backward(lq, keys, values, d_long, long_side);
  const auto b = reference::backward(gq, keys, values, d_global, global_side);
  EXPECT_TRUE(near(gradients.long_query, a.query, 1e-12));
  EXPECT_TRUE(near(gradients.global_query, b.query, 1e-12));
  EXPECT_TRUE(near(stacked(gradients.long_to_long.key, gradients.long_to_global.key), a.key, 1e-12));
  EXPECT_TRUE(near(stacked(gradients.long_to_long.value, gradients.long_to_global.value), a.value, 1e-12));
  EXPECT_TRUE(near(stacked(gradients.global_to_long.key, gradients.global_to_global.key), b.key, 1e-12));
  EXPECT_TRUE(
      near(stacked(gradients.global_to_long.value, gradients.global_to_global.value), b.value, 1e-12));
}

TEST(AttendEtc, RefusesARadiusThatIsNone) {
  const auto x = random(4, 4, 1);
  const auto pieces = etc_pieces(etc_piece(x, x, everything()), etc_piece(x, x, everything()),
                                 etc_piece(x, x, everything()), etc_piece(x, x, everything()));
  EXPECT_EQ(
      check::refusal([&] { (void)attend_etc(x, x, pieces, {.radius = -1}); }),
      "Band: left is -1, expected zero or more; for no limit on one side write Causal, !Causal or None");
  EtcOptions options;
  options.attend.query_offset = 1;
  EXPECT_EQ(
      check::refusal([&] { (void)attend_etc(x, x, pieces, options); }),
      "ETC: query_offset, positions or key_rows are given, expected none of them; each input counts its "
      "own rows");
}

}  // namespace
}  // namespace headwise::etc_test
