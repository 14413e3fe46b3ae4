#include <headwise/attention/explain.hpp>
#include <headwise/attention/longformer_backward.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/none.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/heads.hpp"
#include "support/pattern_laws.hpp"

namespace headwise::longformer_test {
namespace {

using check::near;
using check::random;

check::AnyMask everything() {
  return [](Index, Index) { return true; };
}

/// Six projections of `length` rows.
struct Six {
  Matrix<double> query, key, value, global_query, global_key, global_value;

  Six(Index length, Index query_cols, Index kv_cols)
      : query(random(length, query_cols, 1)),
        key(random(length, kv_cols, 2)),
        value(random(length, kv_cols, 3)),
        global_query(random(length, query_cols, 4)),
        global_key(random(length, kv_cols, 5)),
        global_value(random(length, kv_cols, 6)) {}

  LongformerInputs<double> inputs() const {
    return {query, key, value, global_query, global_key, global_value};
  }
};

/// The definition: which rows a local query sees.
check::AnyMask local_pairs(const LongformerPattern& pattern, Index head, Range rows, check::AnyMask more) {
  return [=](Index q, Index k) {
    const Index distance = std::abs(q - k), dilation = pattern.dilation(head);
    const bool window = distance <= pattern.reach * dilation && distance % dilation == 0;
    return !pattern.is_global(rows.begin + q) && (window || pattern.is_global(rows.begin + k)) && more(q, k);
  };
}

check::AnyMask global_pairs(const LongformerPattern& pattern, Range rows, check::AnyMask more) {
  return [=](Index q, Index k) { return pattern.is_global(rows.begin + q) && more(q, k); };
}

/// Forward and backward against plain loops, one sequence and both softmaxes at a time.
void expect_longformer(const LongformerPattern& pattern, const RaggedRows& rows, Index heads, Index kv_heads,
                       const check::AnyMask& more) {
  const Six six(rows.rows(), heads * 3, kv_heads * 3);
  const auto d = random(rows.rows(), heads * 3, 7);
  const AttendOptions options{.heads = heads, .kv_heads = kv_heads, .query_rows = rows};
  const auto got = attend_longformer(six.inputs(), pattern, options, more);
  const auto gradients = attend_longformer_backward(six.inputs(), pattern, got, d, options, more);
  for (Index s = 0; s < rows.sequences(); ++s) {
    const Range r = rows[s];
    const auto part = [r](const Matrix<double>& x) -> Matrix<double> {
      return x.middleRows(r.begin, r.size());
    };
    const auto local = [&](Index head) {
      reference::Problem problem;
      problem.allows = local_pairs(pattern, head, r, more);
      return problem;
    };
    const auto global = [&](Index) {
      reference::Problem problem;
      problem.allows = global_pairs(pattern, r, more);
      return problem;
    };
    const reference::Matrix expected =
        reference::attention(part(six.query), part(six.key), part(six.value), heads, kv_heads, local) +
        reference::attention(part(six.global_query), part(six.global_key), part(six.global_value), heads,
                             kv_heads, global);
    EXPECT_TRUE(near(part(got.output), expected, 1e-12)) << "sequence " << s;
    const auto a =
        reference::backward(part(six.query), part(six.key), part(six.value), part(d), heads, kv_heads, local);
    const auto b = reference::backward(part(six.global_query), part(six.global_key), part(six.global_value),
                                       part(d), heads, kv_heads, global);
    EXPECT_TRUE(near(part(gradients.query), a.query, 1e-12)) << "sequence " << s;
    EXPECT_TRUE(near(part(gradients.key), a.key, 1e-12)) << "sequence " << s;
    EXPECT_TRUE(near(part(gradients.value), a.value, 1e-12)) << "sequence " << s;
    EXPECT_TRUE(near(part(gradients.global_query), b.query, 1e-12)) << "sequence " << s;
    EXPECT_TRUE(near(part(gradients.global_key), b.key, 1e-12)) << "sequence " << s;
    EXPECT_TRUE(near(part(gradients.global_value), b.value, 1e-12)) << "sequence " << s;
  }
}

std::vector<bool> flags(Index rows, const std::vector<Index>& global) {
  std::vector<bool> result(std::size_t(rows), false);
  for (const Index row : global) result[std::size_t(row)] = true;
  return result;
}

TEST(AttendLongformer, IsAWindowAndGlobalTokensWithProjectionsOfTheirOwn) {
  for (const Index length : {1, 2, 64, 65, 230}) {
    SCOPED_TRACE(length);
    const auto rows = RaggedRows::from_lengths({length});
    expect_longformer({.reach = 3}, rows, 1, 1, everything());
    expect_longformer({.reach = 3, .global = flags(length, {0, length / 2})}, rows, 1, 1, everything());
    expect_longformer({.reach = 300, .global = flags(length, {length - 1})}, rows, 1, 1, everything());
  }
}

TEST(AttendLongformer, ServesDilatedHeadsRaggedBatchesAndOtherMasks) {
  const auto rows = RaggedRows::from_lengths({19, 0, 1, 70});
  const LongformerPattern pattern{
      .reach = 2, .dilations = {1, 3, 5, 80}, .global = flags(90, {0, 7, 20, 21, 60})};
  expect_longformer(pattern, rows, 4, 2, everything());
  expect_longformer(pattern, rows, 4, 2, [](Index q, Index k) { return k <= q; });
}

TEST(AttendLongformer, HasThePublishedNumbers) {
  const auto q = check::waves(0, 12, 4), k = check::waves(1, 12, 4), v = check::waves(2, 12, 4);
  const auto qg = check::waves(3, 12, 4), kg = check::waves(4, 12, 4), vg = check::waves(5, 12, 4);
  const LongformerPattern pattern{.reach = 2, .global = flags(12, {0, 7})};
  const AttendOptions options;
  EXPECT_NEAR(check::checksum(attend_longformer(LongformerInputs<double>{q, k, v, q, k, v}, pattern, options,
                                                everything())
                                  .output),
              0.563741518392, 1e-11);
  EXPECT_NEAR(check::checksum(attend_longformer(LongformerInputs<double>{q, k, v, qg, kg, vg}, pattern,
                                                options, everything())
                                  .output),
              0.574957231227, 1e-11);
}

TEST(AttendLongformer, IsCalledWithSixProjections) {
  namespace hw = headwise;
  hw::Rng rng(1);
  const auto q = hw::normal(100, 8, 1.0, rng), k = q, v = q, qg = q, kg = q, vg = q;
  // [docs attention/longformer]
  std::vector<bool> global(100, false);
  global[0] = true;  // [CLS]
  const hw::LongformerPattern pattern{.reach = 8, .dilations = {1, 4}, .global = global};
  const auto y =
      hw::attend_longformer(hw::LongformerInputs<double>{q, k, v, qg, kg, vg}, pattern, {.heads = 2});
  // [docs end]
  const auto expected = reference::attention(q, k, v, 2, 2, [&](Index head) {
    reference::Problem problem;
    const auto local = local_pairs(pattern, head, {0, 100}, everything());
    problem.allows = [=](Index i, Index j) { return i == 0 || local(i, j); };
    return problem;
  });
  EXPECT_TRUE(near(y.output, expected, 1e-12));
}

/// The global tokens stand in front: rows of all keys, and columns beside windows that do not reach them.
TEST(AttendLongformer, CostsWhatTheFormulaSays) {
  const Index length = 2048, reach = 64;
  const auto pairs = [&](const LongformerPattern& pattern) {
    const attention::LongformerPlans plans(pattern, RaggedRows::from_lengths({length}));
    const AttentionShape shape{.q_len = length, .k_len = length};
    return explain(shape, {}, attention::LongformerWindow(pattern), &plans.local).pairs +
           explain(shape, {}, mask::None{}, &plans.global).pairs;
  };
  EXPECT_EQ(pairs({.reach = reach}), length * (2 * reach + 1) - reach * (reach + 1));
  const Index global = 4;
  Index expected = global * length;
  for (Index i = global; i < length; ++i)
    expected += global + std::min(i + reach, length - 1) - std::max(i - reach, global) + 1;
  EXPECT_EQ(pairs({.reach = reach, .global = flags(length, {0, 1, 2, 3})}), expected);
}

TEST(AttendLongformer, RefusesWhatDoesNotFit) {
  const Six six(4, 6, 6);
  const auto call = [&](const LongformerPattern& pattern, const AttendOptions& options) {
    return check::refusal([&] { (void)attend_longformer(six.inputs(), pattern, options, everything()); });
  };
  EXPECT_EQ(call({.reach = -1}, {}), "LongformerPattern: reach is -1, expected zero or more");
  EXPECT_EQ(call({.reach = 1, .dilations = {1, 0}}, {.heads = 2}),
            "LongformerPattern: dilations[1] is 0, expected a positive number");
  EXPECT_EQ(call({.reach = 1, .dilations = {1, 2, 3}}, {.heads = 2}),
            "Longformer: dilations is 3, expected 2; one a head");
  EXPECT_EQ(call({.reach = 1, .global = {true}}, {}),
            "Longformer: number of global flags is 1, expected 4; give one bool for each row");
  EXPECT_EQ(call({.reach = 1}, {.query_offset = 0}),
            "Longformer: query_offset, positions or key_rows are given, expected none of them; windows are "
            "windows of rows");
}

}  // namespace
}  // namespace headwise::longformer_test
