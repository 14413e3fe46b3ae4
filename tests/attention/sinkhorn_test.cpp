#include <headwise/attention/explain.hpp>
#include <headwise/attention/sinkhorn.hpp>
#include <headwise/core/parameter.hpp>
#include <headwise/mask/causal.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/reference.hpp"

#include <type_traits>

namespace headwise {
namespace {

using check::near;
using check::random;

TEST(AttendSinkhorn, LooksAtItsBlockAndAtTheOneThatWasSortedToIt) {
  namespace hw = headwise;
  hw::Rng rng(1);
  const auto query = hw::normal(32, 8, 1.0f, rng), key = hw::normal(32, 8, 1.0f, rng),
             value = hw::normal(32, 6, 1.0f, rng);
  // [docs attention/sinkhorn]
  hw::BlockMatrices<float> weights;  // one matrix a head: which blocks each block is given
  for (const auto& scores : hw::block_scores(query, key, 8, 2)) weights.push_back(hw::sinkhorn(scores));
  const hw::Matrix<float> y =
      hw::attend_sinkhorn(query, key, value, weights, 8, hw::SinkhornReach::own_blocks, {.heads = 2}).output;
  // [docs end]
  for (Index head = 0; head < 2; ++head) {
    const Matrix<double> q = query.middleCols(head * 4, 4).cast<double>(),
                         k = key.middleCols(head * 4, 4).cast<double>(),
                         v = value.middleCols(head * 3, 3).cast<double>();
    for (Index block = 0; block < 4; ++block) {
      Matrix<double> keys = Matrix<double>::Zero(16, 4), values = Matrix<double>::Zero(16, 3);
      for (Index t = 0; t < 8; ++t) {
        keys.row(t) = k.row(block * 8 + t);
        values.row(t) = v.row(block * 8 + t);
        for (Index c = 0; c < 4; ++c) {
          keys.row(8 + t) += double(weights[std::size_t(head)](block, c)) * k.row(c * 8 + t);
          values.row(8 + t) += double(weights[std::size_t(head)](block, c)) * v.row(c * 8 + t);
        }
      }
      const auto expected = reference::attention(q.middleRows(block * 8, 8), keys, values);
      EXPECT_TRUE(near(y.block(block * 8, head * 3, 8, 3), expected, 1e-5));
    }
  }
}

TEST(AttendSinkhorn, GivesTheNullBlockToTheFirstBlock) {
  namespace hw = headwise;
  hw::Rng rng(1);
  const auto query = hw::normal(32, 8, 1.0f, rng), key = hw::normal(32, 8, 1.0f, rng),
             value = hw::normal(32, 6, 1.0f, rng);
  const hw::Parameter<float> null_key{hw::normal(8, 8, 1.0f, rng)}, null_value{hw::normal(8, 6, 1.0f, rng)};
  hw::BlockMatrices<float> sorted;
  for (const auto& scores : hw::block_scores(query, key, 8, 2, hw::BlockQuery::leading))
    sorted.push_back(hw::sinkhorn(scores, {.order = hw::SinkhornOrder::causal}));
  const auto causal = hw::attend_sinkhorn(query, key, value, sorted, 8, hw::SinkhornReach::own_blocks,
                                          {.heads = 2}, hw::mask::Causal{}, null_key, null_value);
  const auto without = hw::attend_sinkhorn(query, key, value, sorted, 8, hw::SinkhornReach::own_blocks,
                                           {.heads = 2}, hw::mask::Causal{});
  EXPECT_EQ(causal.output.bottomRows(24), without.output.bottomRows(24));
  for (Index head = 0; head < 2; ++head) {
    Matrix<double> keys(16, 4), values(16, 3);
    keys << null_key.value.middleCols(head * 4, 4).cast<double>(),
        key.block(0, head * 4, 8, 4).cast<double>();
    values << null_value.value.middleCols(head * 3, 3).cast<double>(),
        value.block(0, head * 3, 8, 3).cast<double>();
    reference::Problem problem;
    problem.allows = [](Index i, Index j) { return j < 8 || j - 8 <= i; };
    const auto expected =
        reference::attention(query.block(0, head * 4, 8, 4).cast<double>(), keys, values, problem);
    EXPECT_TRUE(near(causal.output.block(0, head * 3, 8, 3), expected, 1e-5));
  }
}

/// n / b blocks of b queries, each with b own keys and b sorted ones; in causal attention b (b + 1) / 2 own
/// pairs, and none sorted for the first block.
TEST(AttendSinkhorn, CostsWhatTheFormulaSays) {
  const Index length = 48, block = 8, blocks = length / block;
  const auto x = random(length, 4, 1);
  const auto counted = [&](const BlockMatrices<double>& weights, SinkhornReach reach, const auto& mask) {
    const attention::SinkhornCall<double, std::remove_cvref_t<decltype(mask)>> call(x, x, x, weights, block,
                                                                                    reach, {}, mask);
    const Explanation e = explain<double>({.q_len = length, .k_len = call.key().rows(), .head_dim = 4},
                                          call.options(), call.pairs(), &call.plans());
    EXPECT_EQ(e.forward_flops, 16.0 * double(e.pairs));
    return e.pairs;
  };
  const auto scores = block_scores(x, x, block)[0];
  EXPECT_EQ(counted({sinkhorn(scores)}, SinkhornReach::own_blocks, mask::None{}), 2 * length * block);
  EXPECT_EQ(counted({best_blocks(scores, 3)}, SinkhornReach::own_blocks, mask::None{}), 4 * length * block);
  EXPECT_EQ(
      counted({best_blocks(Matrix<double>(scores.topRows(1)), 3)}, SinkhornReach::all_blocks, mask::None{}),
      4 * length * block);
  EXPECT_EQ(counted({sinkhorn(scores, {.order = SinkhornOrder::causal})}, SinkhornReach::own_blocks,
                    mask::Causal{}),
            blocks * block * (block + 1) / 2 + (blocks - 1) * block * block);
}

}  // namespace
}  // namespace headwise
