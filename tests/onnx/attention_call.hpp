#pragma once

#include <headwise/attention/options.hpp>
#include <headwise/layer/rows.hpp>
#include <headwise/mask/algebra.hpp>
#include <headwise/mask/band.hpp>
#include <headwise/mask/dense.hpp>
#include <headwise/mask/key_lengths.hpp>
#include <headwise/score/dense_bias.hpp>

#include "onnx/onnx_case.hpp"

#include <algorithm>

/// The operator Attention, said in our terms.
namespace headwise::onnx {

inline constexpr Index unlimited = Index(1) << 40;

/// One batch entry of the operator Attention.
struct Call {
  Matrix<float> query, key, value;
  Index heads = 1, kv_heads = 1, past_len = 0;
};

/// [batch, heads, length, dim] and what comes after it: the operator's past and present.
inline Matrix<float> after(const golden::Case& each, const char* past, Index batch,
                           const Matrix<float>& fresh) {
  return each.has(past) ? concatenate_rows(packed(each.tensor(past), batch), fresh) : fresh;
}

inline Call call_of(const golden::Case& each, Index batch) {
  const golden::Tensor &q = each.tensor("in.Q"), &k = each.tensor("in.K");
  Call call;
  call.query = packed(q, batch);
  call.key = after(each, "in.past_key", batch, packed(k, batch));
  call.value = after(each, "in.past_value", batch, packed(each.tensor("in.V"), batch));
  call.heads = q.rank() == 4 ? q.dim(1) : Index(attribute(each, "q_num_heads", 0));
  call.kv_heads = k.rank() == 4 ? k.dim(1) : Index(attribute(each, "kv_num_heads", 0));
  if (each.has("in.past_key")) call.past_len = each.tensor("in.past_key").dim(2);
  return call;
}

/// The operator's mask as [heads * q_len, k_len]; keys beyond its last column are hidden. A float mask is a
/// bias, and hides nothing else.
inline Matrix<bool> allowed_of(const golden::Case& each, const Call& call, Index batch) {
  const Index q_len = call.query.rows(), k_len = call.key.rows();
  Matrix<bool> allowed = Matrix<bool>::Constant(call.heads * q_len, k_len, true);
  if (!each.has("in.attn_mask")) return allowed;
  const golden::Tensor& mask = each.tensor("in.attn_mask");
  const bool boolean = each.dtype("in.attn_mask") == "U8";
  for (Index row = 0; row < allowed.rows(); ++row)
    for (Index key = 0; key < k_len; ++key)
      allowed(row, key) =
          key < mask.dim(-1) && (!boolean || mask.broadcast(batch, row / q_len, row % q_len, key) != 0);
  return allowed;
}

inline Matrix<float> bias_of(const golden::Case& each, const Call& call, Index batch) {
  const Index q_len = call.query.rows(), k_len = call.key.rows();
  Matrix<float> bias = Matrix<float>::Zero(call.heads * q_len, k_len);
  if (!each.has("in.attn_mask") || each.dtype("in.attn_mask") == "U8") return bias;
  const golden::Tensor& mask = each.tensor("in.attn_mask");
  for (Index row = 0; row < bias.rows(); ++row)
    for (Index key = 0; key < std::min(k_len, mask.dim(-1)); ++key)
      bias(row, key) = float(mask.broadcast(batch, row / q_len, row % q_len, key));
  return bias;
}

/// Scale and place of the queries.
inline AttendOptions options_of(const golden::Case& each, const Call& call, Index batch) {
  AttendOptions options{.heads = call.heads, .kv_heads = call.kv_heads, .query_offset = call.past_len};
  if (const double scale = attribute(each, "scale", 0); scale != 0) options.scale = scale;
  if (each.has("in.nonpad_kv_seqlen")) {
    options.query_offset = each.integers("in.nonpad_kv_seqlen")[std::size_t(batch)] - call.query.rows();
  }
  return options;
}

/// All that hides a key from a query.
inline auto mask_of(const golden::Case& each, const Call& call, Index batch) {
  const double left = attribute(each, "left_window_size", -1),
               right = attribute(each, "right_window_size", -1);
  const bool causal = attribute(each, "is_causal", 0) != 0;
  const mask::Band band{.left = left < 0 ? unlimited : Index(left),
                        .right = causal      ? 0
                                 : right < 0 ? unlimited
                                             : Index(right)};
  const Index length = each.has("in.nonpad_kv_seqlen")
                           ? each.integers("in.nonpad_kv_seqlen")[std::size_t(batch)]
                           : call.key.rows();
  return mask::Dense(allowed_of(each, call, batch), {.heads = call.heads}) && band &&
         mask::KeyLengths{{length}};
}

inline void expect_equal_to(const Matrix<float>& got, const golden::Case& each, const char* name,
                            Index batch) {
  const Matrix<double> expected = packed(each.tensor(name), batch).cast<double>();
  EXPECT_TRUE(golden::match(got.cast<double>(), expected, tolerance_of(each)))
      << name << " of batch " << batch;
}

}  // namespace headwise::onnx
