#include <headwise/attention/attend.hpp>

#include <gtest/gtest.h>

#include "support/any_mask.hpp"
#include "support/check.hpp"
#include "support/heads.hpp"

#include <limits>
#include <string>

namespace headwise::attend_test {
namespace {

using check::near;
using check::random;

using check::AnyMask;

const double nan = std::numeric_limits<double>::quiet_NaN();
const double inf = std::numeric_limits<double>::infinity();

AnyMask everything() {
  return [](Index, Index) { return true; };
}

TEST(Attend, EqualsTheFormulaAtHostileSizes) {
  for (const Index q_len : {0, 1, 2, 23, 24, 25, 63, 64, 65}) {
    for (const Index k_len : {0, 1, 7, 8, 9, 63, 64, 65}) {
      const auto query = random(q_len, 5, 1), key = random(k_len, 5, 2), value = random(k_len, 3, 3);
      EXPECT_TRUE(near(attend(query, key, value, {.query_offset = 0}, everything()),
                       reference::attention(query, key, value), 1e-13))
          << q_len << " queries, " << k_len << " keys";
    }
  }
}

TEST(Attend, TakesAnyHeadSize) {
  for (const Index dim : {1, 2, 3, 8, 31, 33, 72, 130}) {
    for (const Index value_dim : {0, 1, 5, 64, 65}) {
      const auto query = random(13, dim, 1), key = random(13, dim, 2), value = random(13, value_dim, 3);
      EXPECT_TRUE(near(attend(query, key, value, AttendOptions{}, everything()),
                       reference::attention(query, key, value), 1e-12))
          << "head_dim " << dim << ", value_dim " << value_dim;
    }
  }
}

TEST(Attend, SeesLongKeysThroughSeveralChunks) {
  const auto query = random(3, 4, 1), key = random(5000, 4, 2), value = random(5000, 2, 3);
  const AnyMask mask = [](Index, Index k) { return k % 3 != 1; };
  reference::Problem problem;
  problem.allows = mask;
  EXPECT_TRUE(near(attend(query, key, value, {.query_offset = 0}, mask),
                   reference::attention(query, key, value, problem), 1e-12));
}

TEST(Attend, SharesKeysBetweenGroupedHeads) {
  const auto query = random(11, 6 * 4, 1), key = random(11, 2 * 4, 2), value = random(11, 2 * 3, 3);
  EXPECT_TRUE(near(attend(query, key, value, {.heads = 6, .kv_heads = 2}, everything()),
                   reference::attention(query, key, value, 6, 2), 1e-13));
}

TEST(Attend, TakesTheScaleItIsGiven) {
  const auto query = random(6, 5, 1), key = random(11, 5, 2), value = random(11, 5, 3);
  reference::Problem problem;
  problem.scale = 0.37;
  EXPECT_TRUE(near(attend(query, key, value, {.scale = 0.37, .query_offset = 0}, everything()),
                   reference::attention(query, key, value, problem), 1e-13));
}

TEST(Attend, ReadsViewsOfAnyStrideAndTrueExpressions) {
  const auto query = random(9, 12, 1), key = random(9, 12, 2), value = random(9, 12, 3);
  const auto expected = reference::attention(query, key, value, 3, 3);
  const AttendOptions options{.heads = 3};

  const Eigen::MatrixXd column_major = query;
  Matrix<double> wide = Matrix<double>::Constant(9, 20, nan);
  wide.middleCols(4, 12) = key;
  Matrix<double> tall = Matrix<double>::Constant(18, 24, nan);
  const Eigen::Map<Matrix<double>, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>> strided(
      tall.data(), 9, 12, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(48, 2));
  tall.setConstant(nan);
  Eigen::Map<Matrix<double>, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>(
      tall.data(), 9, 12, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(48, 2)) = value;

  EXPECT_TRUE(
      near(attend(column_major, wide.middleCols(4, 12), strided, options, everything()), expected, 1e-13));
  EXPECT_TRUE(near(
      attend(2.0 * query - query, key.transpose().transpose(), value + 0.0 * value, options, everything()),
      expected, 1e-13));
}

TEST(Attend, B116_ReadsATransposedBuffer) {
  const auto buffer = random(2, 4, 1), key = random(4, 2, 2), value = random(4, 2, 3);
  const Matrix<double> copy = buffer.transpose();
  EXPECT_EQ(attend(buffer.transpose(), key, value, AttendOptions{}, everything()),
            attend(copy, key, value, AttendOptions{}, everything()));
}

TEST(Attend, GivesZerosAndMinusInfinityToAQueryThatSeesNothing) {
  const auto query = random(5, 4, 1), key = random(5, 4, 2), value = random(5, 4, 3);
  const auto result =
      attend_with_lse(query, key, value, AttendOptions{}, AnyMask([](Index q, Index) { return q != 2; }));
  EXPECT_TRUE(result.output.row(2).isZero(0.0));
  EXPECT_EQ(result.lse(2, 0), -inf);
  EXPECT_TRUE(result.output.allFinite());
}

TEST(Attend, NeverMultipliesWhatTheMaskHides) {
  for (const double poison : {nan, inf, -inf}) {
    auto query = random(30, 4, 1), key = random(30, 4, 2), value = random(30, 4, 3);
    const AnyMask mask = [](Index q, Index k) { return k != 7 && k != 20 && q != 3; };
    const auto clean = attend(query, key, value, AttendOptions{}, mask);
    key.row(7).setConstant(poison);
    value.row(20).setConstant(poison);
    query.row(3).setConstant(poison);
    EXPECT_EQ(attend(query, key, value, AttendOptions{}, mask), clean) << poison;
  }
}

TEST(Attend, LetsAVisibleNaNThrough) {
  auto query = random(4, 3, 1), key = random(4, 3, 2), value = random(4, 3, 3);
  value(1, 2) = nan;
  const auto output =
      attend(query, key, value, AttendOptions{}, AnyMask([](Index q, Index k) { return k <= q; }));
  EXPECT_TRUE(output.row(0).allFinite());
  EXPECT_TRUE(std::isnan(output(1, 2)));
  EXPECT_TRUE(output.leftCols(2).allFinite());
}

TEST(Attend, KeepsSequencesOfABatchApart) {
  const auto query = random(12, 4, 1), key = random(15, 4, 2), value = random(15, 4, 3);
  const AttendOptions options{.query_offset = align_last,
                              .query_rows = RaggedRows::from_lengths({5, 0, 7}),
                              .key_rows = RaggedRows::from_lengths({6, 0, 9})};
  const AnyMask causal = [](Index q, Index k) { return k <= q; };
  const auto output = attend(query, key, value, options, causal);
  reference::Problem first, last;
  first.allows = [](Index q, Index k) { return k <= q + 1; };
  last.allows = [](Index q, Index k) { return k <= q + 2; };
  EXPECT_TRUE(near(output.topRows(5),
                   reference::attention(query.topRows(5), key.topRows(6), value.topRows(6), first), 1e-13));
  EXPECT_TRUE(near(output.bottomRows(7),
                   reference::attention(query.bottomRows(7), key.bottomRows(9), value.bottomRows(9), last),
                   1e-13));
}

TEST(Attend, ShowsPoliciesThePositionsItIsGiven) {
  const std::vector<Position> query_positions{4, 9}, key_positions{0, 3, 4, 8};
  const auto query = random(2, 4, 1), key = random(4, 4, 2), value = random(4, 4, 3);
  const AttendOptions options{.query_positions = query_positions, .key_positions = key_positions};
  reference::Problem problem;
  problem.allows = [&](Index q, Index k) {
    return key_positions[std::size_t(k)] <= query_positions[std::size_t(q)];
  };
  EXPECT_TRUE(near(attend(query, key, value, options, AnyMask([](Index q, Index k) { return k <= q; })),
                   reference::attention(query, key, value, problem), 1e-13));
}

TEST(Attend, ReturnsTheNaturalLogSumExp) {
  const auto query = random(6, 4, 1), key = random(6, 4, 2), value = random(6, 4, 3);
  const auto lse = attend_with_lse(query, key, value, AttendOptions{}, everything()).lse;
  const auto expected = reference::forward(query, key, value).lse;
  for (Index i = 0; i < 6; ++i) EXPECT_NEAR(lse(i, 0), expected[std::size_t(i)], 1e-13);
}

TEST(Attend, SurvivesScoresInTheThousands) {
  const Matrix<double> query = 60.0 * random(12, 8, 1), key = 60.0 * random(12, 8, 2),
                       value = random(12, 8, 3);
  EXPECT_TRUE(near(attend(query, key, value, AttendOptions{}, everything()),
                   reference::attention(query, key, value), 1e-9));
}

/// The text of the error that `call` throws.
template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Attend, NamesTheArgumentThatDoesNotFit) {
  const auto a = random(4, 6, 1), b = random(5, 6, 2), narrow = random(4, 4, 3);
  const auto call = [&](const auto& q, const auto& k, const auto& v, const AttendOptions& o) {
    return error_of([&] { (void)attend(q, k, v, o, everything()); });
  };
  EXPECT_EQ(call(a, a, b, {}), "attend: value rows is 5, expected 4; one value a key");
  EXPECT_EQ(call(a, a, a, {.heads = 4}), "attend: query columns is 6, expected a multiple of 4 (heads)");
  EXPECT_EQ(call(a, a, a, {.heads = 0}), "attend: heads is 0, expected a positive number");
  EXPECT_EQ(call(a, a, a, {.heads = 3, .kv_heads = 2}),
            "attend: heads is 3, expected a multiple of 2 (kv_heads)");
  EXPECT_EQ(call(a, narrow, narrow, {.heads = 2}),
            "attend: head_dim of key is 2, expected 3; query and key have heads of one size; set .heads and "
            ".kv_heads");
  EXPECT_EQ(call(a, a, a, {.scale = inf}), "attend: scale is inf, expected a finite number");
  EXPECT_EQ(call(a, a, a, {.dropout = {.rate = 1.0}}),
            "attend: dropout.rate is 1.000000, expected at least 0 and below 1");
  EXPECT_EQ(call(a, a, a, {.query_rows = RaggedRows::from_lengths({2, 3})}),
            "attend: query rows is 4, expected 5; the lengths of its sequences must add up to its rows");
}

TEST(Attend, B23_AsksWhereTheQueriesStandWhenLengthsDiffer) {
  const auto query = random(1, 4, 1), key = random(3, 4, 2);
  EXPECT_EQ(
      error_of([&] { (void)attend(query, key, key, AttendOptions{}, everything()); }),
      "attend: sequence 0 has 1 queries and 3 keys, expected to be told where the queries stand; set "
      ".query_offset (0: first with first; align_last: last with last, as with a cache), or .query_positions "
      "and .key_positions");
}

TEST(Attend, RefusesAnOffsetBeyondThePositions) {
  const auto x = random(2, 4, 1);
  for (const Index offset :
       {align_last + 1, std::numeric_limits<Index>::max(), Index(1) << 31, -(Index(1) << 31)}) {
    const std::string text =
        error_of([&] { (void)attend(x, x, x, AttendOptions{.query_offset = offset}, everything()); });
    EXPECT_EQ(text, "attend: |query_offset| is " + std::to_string(std::abs(offset)) +
                        ", expected at most 2^31 - 1");
  }
}

TEST(Attend, RefusesAnOffsetTogetherWithPositions) {
  const auto x = random(2, 4, 1);
  const std::vector<Position> positions{0, 1};
  const AttendOptions both{.query_offset = 0, .query_positions = positions, .key_positions = positions};
  EXPECT_NE(
      error_of([&] { (void)attend(x, x, x, both, everything()); }).find("query_offset is given together"),
      std::string::npos);
  const AttendOptions half{.query_positions = positions};
  EXPECT_EQ(error_of([&] { (void)attend(x, x, x, half, everything()); }),
            "attend: key_positions is 0, expected 2; one a key row");
}

}  // namespace
}  // namespace headwise::attend_test
