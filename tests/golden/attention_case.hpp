#pragma once

#include <headwise/attention/attend.hpp>
#include <headwise/attention/attend_backward.hpp>
#include <headwise/mask/dense.hpp>

#include "support/golden.hpp"

#include <string_view>
#include <vector>

/// What the golden tests of attention share: in.q, in.k, in.v [B, H, L, D] as packed heads, and the
/// comparison of everything that the verb returns.
namespace headwise::golden {

/// The settings that the tests of a kind know; a case with others is skipped by name.
inline const std::vector<std::string_view> sdpa_settings{"B",  "D",  "Dv",   "Hkv",   "Hq",
                                                         "Lk", "Lq", "mode", "scale", "window"};
inline const std::vector<std::string_view> flex_settings{
    "B", "D", "Dv", "Hkv", "Hq", "Lk", "Lq", "mask", "scale", "score_mod", "softcap", "window"};

/// The four axes [B, H, Lq, Lk] of a mask or bias that may have fewer of them; missing ones are 1.
struct PairAxes {
  Index batch = 1, heads = 1, queries = 1, keys = 1;

  explicit PairAxes(const Tensor& tensor) {
    Index* axes[] = {&keys, &queries, &heads, &batch};
    for (Index i = 0; i < tensor.rank(); ++i) *axes[i] = tensor.dim(-1 - i);
  }
};

/// A mask of ones and zeros, 1 means may attend. Axes of size 1 stay shared, but for that of the keys.
inline mask::Dense dense_mask(const Tensor& tensor, Index k_len) {
  const PairAxes axes(tensor);
  Matrix<bool> allowed(axes.batch * axes.heads * axes.queries, k_len);
  Index row = 0;
  for (Index b = 0; b < axes.batch; ++b)
    for (Index h = 0; h < axes.heads; ++h)
      for (Index i = 0; i < axes.queries; ++i, ++row)
        for (Index j = 0; j < k_len; ++j) allowed(row, j) = tensor.broadcast(b, h, i, j) != 0;
  return mask::Dense(std::move(allowed), {.heads = axes.heads, .sequences = axes.batch});
}

/// One call of the verb, and what it must return.
struct AttentionCase {
  const Case& data;
  Index batch, heads, kv_heads, q_len, k_len;
  Matrix<double> query, key, value;

  explicit AttentionCase(const Case& each)
      : data(each),
        batch(each.tensor("in.q").dim(0)),
        heads(each.tensor("in.q").dim(1)),
        kv_heads(each.tensor("in.k").dim(1)),
        q_len(each.tensor("in.q").dim(2)),
        k_len(each.tensor("in.k").dim(2)),
        query(each.heads("in.q")),
        key(each.heads("in.k")),
        value(each.heads("in.v")) {}

  AttendOptions options() const {
    AttendOptions options{.heads = heads,
                          .kv_heads = kv_heads,
                          .query_rows = RaggedRows::uniform(batch, q_len),
                          .key_rows = RaggedRows::uniform(batch, k_len)};
    if (data.has_setting("scale")) options.scale = data.number("scale");
    return options;
  }

  /// out.o, out.lse, and grad.q, grad.k, grad.v where they are given. Returns the gradients of the score's
  /// operands.
  template <class Mask, class Score>
  std::vector<Matrix<double>> expect(const AttendOptions& options, const Mask& mask,
                                     const Score& score) const {
    const auto tolerance = data.tolerance();
    const Attended<double> got = attend_with_lse(query, key, value, options, mask, score);
    EXPECT_TRUE(match(got.output, data.heads("out.o"), tolerance)) << "output";
    if (data.has("out.lse")) {
      EXPECT_TRUE(match(got.lse, data.lse("out.lse"), tolerance)) << "log-sum-exp";
    }
    if (!data.has("in.dout")) return {};

    const Matrix<double> d_lse =
        data.has("in.dlse") ? data.lse("in.dlse") : Matrix<double>(Matrix<double>::Zero(query.rows(), heads));
    const Attended<double> upstream{data.heads("in.dout"), d_lse};
    auto gradients = attend_backward(query, key, value, got, upstream, options, mask, score);
    EXPECT_TRUE(match(gradients.query, data.heads("grad.q"), tolerance)) << "gradient of query";
    EXPECT_TRUE(match(gradients.key, data.heads("grad.k"), tolerance)) << "gradient of key";
    EXPECT_TRUE(match(gradients.value, data.heads("grad.v"), tolerance)) << "gradient of value";
    return std::move(gradients.learned);
  }
};

}  // namespace headwise::golden
