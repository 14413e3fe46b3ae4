#include <headwise/interop/eigen_tensor_backward.hpp>

#include <gtest/gtest.h>

#include "interop/tensors.hpp"
#include "support/check.hpp"

#include <string>
#include <type_traits>

namespace headwise::eigen_tensor_backward_test {
namespace {

using check::random;
using tensors::HeadsTokens;
using tensors::TokensHeads;

constexpr auto by_head_and_sequence = [](Index query, Index key, Index head, Index sequence) {
  return key <= query && !(key == 0 && head % 2 == 1) && !(key == 1 && sequence % 2 == 1);
};

/// A scene of three sequences of 9 tokens, 4 query heads and 2 key-value heads.
struct Scene {
  static constexpr Index batch = 3, tokens = 9, heads = 4, kv_heads = 2, head_dim = 5, value_dim = 3;
  Matrix<double> query = random(batch * tokens, heads* head_dim, 1);
  Matrix<double> key = random(batch * tokens, kv_heads* head_dim, 2);
  Matrix<double> value = random(batch * tokens, kv_heads* value_dim, 3);
  Matrix<double> d_output = random(batch * tokens, heads* value_dim, 4);
  Matrix<double> d_lse = random(batch * tokens, heads, 5);
  AttendOptions options{.heads = heads, .kv_heads = kv_heads};
  AttendOptions stacked{
      .heads = heads, .kv_heads = kv_heads, .query_rows = RaggedRows::uniform(batch, tokens)};
};

/// Both storage orders, all layouts.
void for_some_kinds(auto&& visit) {
  visit(tensors::Features{});
  visit(tensors::TokensHeadsColumnMajor{});
  visit(tensors::HeadsTokens{});
}

TEST(AttendBackwardTensors, EqualsBackwardOnStackedRows) {
  const Scene s;
  const auto attended = attend_with_lse(s.query, s.key, s.value, s.stacked, by_head_and_sequence);
  const auto expected =
      attend_backward(s.query, s.key, s.value, attended, s.d_output, s.stacked, by_head_and_sequence);

  for_some_kinds([&](auto kind) {
    const auto query = kind.from_rows(s.query, s.batch, s.heads),
               key = kind.from_rows(s.key, s.batch, s.kv_heads),
               value = kind.from_rows(s.value, s.batch, s.kv_heads),
               d_output = kind.from_rows(s.d_output, s.batch, s.heads);
    const auto q = tokens_view(query, kind.layout), k = tokens_view(key, kind.layout),
               v = tokens_view(value, kind.layout), d = tokens_view(d_output, kind.layout);
    const auto forward = attend_with_lse(q, k, v, s.options, by_head_and_sequence);
    const auto got = attend_backward(q, k, v, forward, d, s.options, by_head_and_sequence);

    static_assert(std::is_same_v<decltype(got.query), typename decltype(kind)::Tensor>);
    EXPECT_EQ(kind.to_rows(got.query, s.batch, s.tokens, s.heads, s.head_dim), expected.query);
    EXPECT_EQ(kind.to_rows(got.key, s.batch, s.tokens, s.kv_heads, s.head_dim), expected.key);
    EXPECT_EQ(kind.to_rows(got.value, s.batch, s.tokens, s.kv_heads, s.value_dim), expected.value);
    EXPECT_TRUE(got.learned.empty());
  });
}

TEST(AttendBackwardTensors, GivesEachGradientInTheKindOfItsArgumentAndTakesOneOfTheLogSumExp) {
  const Scene s;
  const auto attended = attend_with_lse(s.query, s.key, s.value, s.stacked, by_head_and_sequence);
  const auto expected =
      attend_backward(s.query, s.key, s.value, attended, Attended<double>{s.d_output, s.d_lse}, s.stacked,
                      by_head_and_sequence);

  const auto query = TokensHeads::from_rows(s.query, s.batch, s.heads);
  const auto key = HeadsTokens::from_rows(s.key, s.batch, s.kv_heads);
  const auto value = tensors::FeaturesColumnMajor::from_rows(s.value, s.batch, s.kv_heads);
  const auto q = tokens_view(query, layout::batch_tokens_heads);
  const auto k = tokens_view(key, layout::batch_heads_tokens);
  const auto v = tokens_view(value, layout::batch_tokens_features);
  const auto forward = attend_with_lse(q, k, v, by_head_and_sequence);
  const AttendedTensor<TokensHeads::Tensor> upstream{TokensHeads::from_rows(s.d_output, s.batch, s.heads),
                                                     s.d_lse};
  const auto got = attend_backward(q, k, v, forward, upstream, by_head_and_sequence);

  static_assert(std::is_same_v<decltype(got.query), TokensHeads::Tensor>);
  static_assert(std::is_same_v<decltype(got.key), HeadsTokens::Tensor>);
  static_assert(std::is_same_v<decltype(got.value), tensors::FeaturesColumnMajor::Tensor>);
  EXPECT_EQ(TokensHeads::to_rows(got.query, s.batch, s.tokens, s.heads, s.head_dim), expected.query);
  EXPECT_EQ(HeadsTokens::to_rows(got.key, s.batch, s.tokens, s.kv_heads, s.head_dim), expected.key);
  EXPECT_EQ(tensors::FeaturesColumnMajor::to_rows(got.value, s.batch, s.tokens, s.kv_heads, s.value_dim),
            expected.value);
}

template <class F>
std::string message_of(F&& f) {
  try {
    f();
    return "accepted";
  } catch (const ShapeError& error) {
    return error.what();
  }
}

TEST(AttendBackwardTensors, NamesWhatDoesNotBelongToTheForwardCall) {
  const Scene s;
  const auto query = TokensHeads::from_rows(s.query, s.batch, s.heads),
             key = TokensHeads::from_rows(s.key, s.batch, s.kv_heads),
             value = TokensHeads::from_rows(s.value, s.batch, s.kv_heads);
  const auto layout = layout::batch_tokens_heads;
  const auto q = tokens_view(query, layout), k = tokens_view(key, layout), v = tokens_view(value, layout);
  const auto forward = attend_with_lse(q, k, v, by_head_and_sequence);
  const auto backward = [&](const auto& attended, const auto& d_output) {
    return message_of([&] { (void)attend_backward(q, k, v, attended, d_output, by_head_and_sequence); });
  };

  const auto d = tokens_view(forward.output, layout);
  auto wrong = forward;
  wrong.lse.resize(26, 4);
  EXPECT_EQ(backward(wrong, d),
            "attend_backward: lse rows is 26, expected 27; pass what attend_with_lse returned");
  wrong.lse.resize(27, 2);
  EXPECT_EQ(backward(wrong, d),
            "attend_backward: lse columns is 2, expected 4; pass what attend_with_lse returned");
  wrong = forward;
  wrong.output.resize(3, 9, 4, 2);
  EXPECT_EQ(backward(wrong, d),
            "attend_backward: head_dim of output is 2, expected 3; as wide as the values");
  EXPECT_EQ(backward(forward, tokens_view(wrong.output, layout)),
            "attend_backward: head_dim of d_output is 2, expected 3; as wide as the values");
  wrong = forward;
  wrong.lse.resize(27, 3);
  EXPECT_EQ(backward(forward, wrong), "attend_backward: d_lse columns is 3, expected 4; the shape of lse");
}

}  // namespace
}  // namespace headwise::eigen_tensor_backward_test
