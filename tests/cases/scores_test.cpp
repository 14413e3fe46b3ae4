// Public reports about score policies: biases, caps, tables, and their gradients.
#include <headwise/mask/causal.hpp>
#include <headwise/mask/none.hpp>
#include <headwise/score/alibi.hpp>
#include <headwise/score/dense_bias.hpp>
#include <headwise/score/soft_cap.hpp>
#include <headwise/score/t5_bias.hpp>

#include "support/attention_case.hpp"

namespace headwise {
namespace {

using check::column;
using check::expect_output;
using check::near;
using check::zeros;

/// ALiBi with the slope of the reports.
auto half_slope() { return score::Alibi(Matrix<double>(Matrix<double>::Constant(1, 1, 0.5))); }

TEST(Scores, B17_TheMaskComesAfterTheCap) {
  const auto first_only = [](Index, Index k) { return k == 0; };
  const score::SoftCap cap{.limit = 1};
  for (const InstructionSet set : check::instruction_sets()) {
    const AttendOptions options{.query_offset = 0, .instruction_set = set};
    EXPECT_NEAR(attend(zeros(1), zeros(2), column({1, 2}), options, first_only, cap)(0, 0), 1, 1e-15);
  }
}

TEST(Scores, B65_DistancesCountTheMemory) {
  expect_output(zeros(1), zeros(3), column({1, 2, 4}), column({2.82663706}), {.query_offset = 2},
                mask::Causal{}, half_slope());
}

TEST(Scores, B70_DecodingHasTheBiasOfTheFullPass) {
  const auto full =
      attend(zeros(3), zeros(3), column({1, 2, 4}), AttendOptions{}, mask::Causal{}, half_slope());
  const auto decoded = attend(zeros(1), zeros(3), column({1, 2, 4}), {.query_offset = align_last},
                              mask::Causal{}, half_slope());
  EXPECT_NEAR(decoded(0, 0), 2.82663706, 1e-8);
  EXPECT_NEAR(decoded(0, 0), full(2, 0), 1e-15);
}

TEST(Scores, B71_ABiasDoesNotUndoCausality) {
  expect_output(zeros(3), zeros(3), column({1, 2, 4}), column({1, 1.62245933, 2.82663706}), {},
                mask::Causal{}, half_slope());
}

TEST(Scores, B67_CrossAttentionHasNoBiasUnlessGiven) {
  // The self-attention's table is an argument of its own call, so it cannot reach this one.
  expect_output(zeros(2), zeros(3), column({1, 2, 4}), column({2.33333333, 2.33333333}), {}, mask::None{});
}

TEST(Scores, B68_ABucketBiasCountsTheCache) {
  const score::T5Bias bias(column({0, 1}), {.direction = score::T5Direction::causal, .max_distance = 4});
  expect_output(zeros(1), zeros(2), column({1, 2}), column({1.26894142}), {.query_offset = 1}, mask::Causal{},
                bias);
}

TEST(Scores, B104_GradientsAreDenseOnesAtAnyLength) {
  const auto growing = score::Alibi(Matrix<double>(Matrix<double>::Constant(1, 1, -1)));  // s + (q - k)
  const auto value = column({1, 2, 4, 8, 16});
  const auto query = check::random(5, 1, 1), key = check::random(5, 1, 2), d = check::random(5, 1, 3);
  const auto at_zero = attend(zeros(5), zeros(5), value, AttendOptions{}, mask::Causal{}, growing);
  EXPECT_NEAR(at_zero(4, 0), 1.8891452, 1e-7);

  const auto attended = attend_with_lse(query, key, value, AttendOptions{}, mask::Causal{}, growing);
  const auto g = attend_backward(query, key, value, attended, d, AttendOptions{}, mask::Causal{}, growing);
  const auto weights = attention_weights(query, key, {}, mask::Causal{}, growing);
  Matrix<double> d_query = zeros(5), d_key = zeros(5);
  for (Index i = 0; i < 5; ++i) {
    for (Index j = 0; j <= i; ++j) {
      const double ds = weights(i, j) * d(i, 0) * (value(j, 0) - attended.output(i, 0));
      d_query(i, 0) += ds * key(j, 0);
      d_key(j, 0) += ds * query(i, 0);
    }
  }
  EXPECT_TRUE(near(g.query, d_query, 1e-12));
  EXPECT_TRUE(near(g.key, d_key, 1e-12));
}

TEST(Scores, B106_ATableIsNeverReadAtAHiddenKey) {
  // Three entries for four keys: the fourth is hidden, and reading there is what a sanitizer would report.
  const std::vector<double> table(3, 0.0);
  const auto looked_up = [&table](double s, Position, Position k) { return s + table[std::size_t(k)]; };
  const auto first_three = [](Index, Index k) { return k < 3; };
  for (const InstructionSet set : check::instruction_sets()) {
    const AttendOptions options{.instruction_set = set};
    EXPECT_TRUE(near(attend(zeros(4), zeros(4), column({1, 2, 4, 8}), options, first_three, looked_up),
                     Matrix<double>::Constant(4, 1, 7.0 / 3), 1e-15));
  }
}

}  // namespace
}  // namespace headwise
