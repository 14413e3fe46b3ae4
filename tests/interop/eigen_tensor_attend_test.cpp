#include <headwise/interop/eigen_tensor.hpp>

#include <gtest/gtest.h>

#include "interop/tensors.hpp"
#include "support/check.hpp"

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace headwise {
namespace {

using check::random;
using tensors::for_each_kind;
using tensors::HeadsTokens;
using tensors::TokensHeads;

/// Hides key 0 from odd heads and key 1 from odd sequences: what a policy sees of its context.
constexpr auto by_head_and_sequence = [](Index query, Index key, Index head, Index sequence) {
  return key <= query && !(key == 0 && head % 2 == 1) && !(key == 1 && sequence % 2 == 1);
};

AttendOptions stacked(Index batch, Index q_len, Index k_len, AttendOptions options) {
  options.query_rows = RaggedRows::uniform(batch, q_len);
  options.key_rows = RaggedRows::uniform(batch, k_len);
  return options;
}

TEST(AttendTensors, EqualsAttendOnStackedRowsBitForBitInEveryKind) {
  const Index batch = 3, tokens = 65, heads = 4, kv_heads = 2;
  const Matrix<double> q = random(batch * tokens, heads * 5, 1), k = random(batch * tokens, kv_heads * 5, 2),
                       v = random(batch * tokens, kv_heads * 3, 3);
  const AttendOptions options{.heads = heads, .kv_heads = kv_heads};
  const auto expected =
      attend_with_lse(q, k, v, stacked(batch, tokens, tokens, options), by_head_and_sequence);

  for_each_kind([&](auto kind) {
    const auto query = kind.from_rows(q, batch, heads), key = kind.from_rows(k, batch, kv_heads),
               value = kind.from_rows(v, batch, kv_heads);
    const auto got = attend_with_lse(tokens_view(query, kind.layout), tokens_view(key, kind.layout),
                                     tokens_view(value, kind.layout), options, by_head_and_sequence);
    static_assert(std::is_same_v<decltype(got.output), typename decltype(kind)::Tensor>);
    EXPECT_EQ(kind.to_rows(got.output, batch, tokens, heads, 3), expected.output);
    EXPECT_EQ(got.lse, expected.lse);
  });
}

TEST(AttendTensors, TakesEachTensorInAKindOfItsOwn) {
  const Index batch = 2, q_len = 9, k_len = 64, heads = 2;  // fewer queries go by the strides of the keys
  const Matrix<double> q = random(batch * q_len, heads * 4, 4), k = random(batch * k_len, heads * 4, 5),
                       v = random(batch * k_len, heads * 4, 6);
  const AttendOptions options{.heads = heads, .query_offset = align_last};
  const Matrix<double> expected =
      attend(q, k, v, stacked(batch, q_len, k_len, options), by_head_and_sequence);

  const auto query = tensors::FeaturesColumnMajor::from_rows(q, batch, heads);
  const auto key = HeadsTokens::from_rows(k, batch, heads);
  const auto value = tensors::TokensHeadsColumnMajor::from_rows(v, batch, heads);
  const Eigen::Tensor<double, 3> got =
      attend(tokens_view(query, layout::batch_tokens_features), tokens_view(key, layout::batch_heads_tokens),
             tokens_view(value, layout::batch_tokens_heads), options, by_head_and_sequence);

  EXPECT_EQ(tensors::FeaturesColumnMajor::to_rows(got, batch, q_len, heads, 4), expected);
}

TEST(AttendTensors, WritesIntoMemoryOwnedByOthers) {
  const Index batch = 2, tokens = 7, heads = 2;
  const Matrix<double> q = random(batch * tokens, heads * 4, 11), k = random(batch * tokens, heads * 4, 12),
                       v = random(batch * tokens, heads * 4, 13);
  const AttendOptions options{.heads = heads};
  const auto expected =
      attend_with_lse(q, k, v, stacked(batch, tokens, tokens, options), by_head_and_sequence);
  const auto query = TokensHeads::from_rows(q, batch, heads), key = TokensHeads::from_rows(k, batch, heads),
             value = TokensHeads::from_rows(v, batch, heads);
  const auto layout = layout::batch_tokens_heads;

  std::vector<double> memory(std::size_t(batch * tokens * heads * 4) + 2,
                             std::numeric_limits<double>::quiet_NaN());
  const Eigen::TensorMap<HeadsTokens::Tensor> out(memory.data() + 1, batch, heads, tokens, 4);
  const Matrix<double> lse =
      attend_into(tokens_view(query, layout), tokens_view(key, layout), tokens_view(value, layout),
                  by_head_and_sequence, tokens_view(out, layout::batch_heads_tokens));

  EXPECT_EQ(HeadsTokens::to_rows(out, batch, tokens, heads, 4), expected.output);
  EXPECT_EQ(lse, expected.lse);
  EXPECT_TRUE(std::isnan(memory.front()) && std::isnan(memory.back())) << "and nothing beside it";
}

TEST(AttendTensors, GivesRowsWithoutKeysZerosAndKeepsEmptyBatches) {
  const auto layout = layout::batch_tokens_heads;
  const auto attend_shapes = [&](Index batch, Index q_len, Index k_len) {
    Eigen::Tensor<double, 4> query(batch, q_len, 2, 3), key(batch, k_len, 2, 3);
    query.setConstant(1);
    key.setConstant(1);
    return attend_with_lse(tokens_view(query, layout), tokens_view(key, layout), tokens_view(key, layout),
                           {.query_offset = 0}, by_head_and_sequence);
  };
  const auto no_keys = attend_shapes(2, 3, 0);
  ASSERT_EQ(no_keys.output.size(), 2 * 3 * 2 * 3);
  for (Index i = 0; i < no_keys.output.size(); ++i) EXPECT_EQ(no_keys.output.data()[i], 0);
  EXPECT_EQ(no_keys.lse, Matrix<double>::Constant(6, 2, -std::numeric_limits<double>::infinity()));
  EXPECT_EQ(attend_shapes(0, 3, 4).output.dimension(1), 3);
  EXPECT_EQ(attend_shapes(2, 0, 4).output.dimension(0), 2);
  EXPECT_EQ(attend_shapes(0, 3, 4).lse.rows(), 0);
}

}  // namespace
}  // namespace headwise
