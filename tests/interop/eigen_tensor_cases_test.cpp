#include <headwise/interop/eigen_tensor.hpp>

#include <gtest/gtest.h>

#include "interop/tensors.hpp"
#include "support/check.hpp"
#include "support/reference.hpp"

namespace headwise {
namespace {

using check::near;
using check::random;
using tensors::HeadsTokens;
using tensors::TokensHeads;

/// All keys, or those up to the query: one mask type, so that one kernel is compiled.
struct Prefixes {
  static constexpr bool reads_query = false;  // tests of unequal lengths look at all keys
  bool causal = false;

  constexpr bool allows(Index query, Index key) const noexcept { return !causal || key <= query; }
};

TEST(AttendTensors, IsTheSoftmaxOfEachSequenceAndHead) {
  const Index batch = 2, q_len = 3, k_len = 5, heads = 2;
  const auto q = random(batch * q_len, heads * 4, 7), k = random(batch * k_len, heads * 4, 8),
             v = random(batch * k_len, heads * 3, 9);
  const auto query = HeadsTokens::from_rows(q, batch, heads), key = HeadsTokens::from_rows(k, batch, heads),
             value = HeadsTokens::from_rows(v, batch, heads);
  const auto layout = layout::batch_heads_tokens;

  const auto output =
      attend(tokens_view(query, layout), tokens_view(key, layout), tokens_view(value, layout), Prefixes{});

  const Matrix<double> got = HeadsTokens::to_rows(output, batch, q_len, heads, 3);
  for (Index b = 0; b < batch; ++b) {
    for (Index h = 0; h < heads; ++h) {
      const auto expected =
          reference::attention(q.block(b * q_len, h * 4, q_len, 4), k.block(b * k_len, h * 4, k_len, 4),
                               v.block(b * k_len, h * 3, k_len, 3));
      EXPECT_TRUE(near(got.block(b * q_len, h * 3, q_len, 3), expected, 1e-14)) << b << " " << h;
    }
  }
}

TEST(AttendTensors, B31_RepeatsKeyValueHeadsAlongTheHeadAxisAndNotAlongTime) {
  Eigen::Tensor<double, 4, Eigen::RowMajor> query(1, 2, 2, 1), key(1, 2, 1, 1), value(1, 2, 1, 1);
  query.setZero();
  key.setZero();
  value(0, 0, 0, 0) = 1;
  value(0, 1, 0, 0) = 3;
  const auto layout = layout::batch_tokens_heads;
  const auto q = tokens_view(query, layout), k = tokens_view(key, layout), v = tokens_view(value, layout);

  const auto everything = attend(q, k, v, Prefixes{});
  ASSERT_EQ(everything.dimension(1), 2) << "the output is as long as the query";
  ASSERT_EQ(everything.dimension(2), 2);
  const auto causal = attend(q, k, v, Prefixes{true});
  for (Index head = 0; head < 2; ++head) {
    for (Index token = 0; token < 2; ++token) EXPECT_NEAR(everything(0, token, head, 0), 2, 1e-15);
    EXPECT_NEAR(causal(0, 0, head, 0), 1, 1e-15);
    EXPECT_NEAR(causal(0, 1, head, 0), 2, 1e-15);
  }
}

TEST(AttendTensors, ReadsTheSameNumbersDifferentlyUnderAnotherTag) {
  const Matrix<double> rows = random(4, 12, 10);  // one sequence of 4 tokens, or of 4 heads
  Eigen::Tensor<double, 4, Eigen::RowMajor> x(1, 4, 4, 3);
  for (Index i = 0; i < 48; ++i) x.data()[i] = rows.data()[i];
  const auto tokens_first = tokens_view(x, layout::batch_tokens_heads);
  const auto heads_first = tokens_view(x, layout::batch_heads_tokens);

  const auto by_tokens = attend(tokens_first, tokens_first, tokens_first, Prefixes{});
  const auto by_heads = attend(heads_first, heads_first, heads_first, Prefixes{});

  EXPECT_EQ(TokensHeads::to_rows(by_tokens, 1, 4, 4, 3), attend(rows, rows, rows, {.heads = 4}, Prefixes{}));
  const Matrix<double> transposed = HeadsTokens::to_rows(x, 1, 4, 4, 3);
  EXPECT_EQ(HeadsTokens::to_rows(by_heads, 1, 4, 4, 3),
            attend(transposed, transposed, transposed, {.heads = 4}, Prefixes{}));
}

}  // namespace
}  // namespace headwise
