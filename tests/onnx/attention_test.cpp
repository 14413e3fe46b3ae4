// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/attention/attend.hpp>
#include <headwise/layer/rows.hpp>
#include <headwise/mask/algebra.hpp>
#include <headwise/mask/band.hpp>
#include <headwise/mask/dense.hpp>
#include <headwise/mask/key_lengths.hpp>
#include <headwise/score/chain.hpp>
#include <headwise/score/dense_bias.hpp>
#include <headwise/score/soft_cap.hpp>

#include "onnx/onnx_case.hpp"

#include <limits>
#include <optional>

namespace headwise::onnx {
namespace {

using golden::Case;
using golden::Tensor;

constexpr Index unlimited = Index(1) << 40;

/// One batch entry of the operator Attention.
struct Call {
  Matrix<float> query, key, value;
  Index heads = 1, kv_heads = 1, past_len = 0;
};

/// [batch, heads, length, dim] and what comes after it: the operator's past and present.
Matrix<float> after(const Case& each, const char* past, Index batch, const Matrix<float>& fresh) {
  return each.has(past) ? concatenate_rows(packed(each.tensor(past), batch), fresh) : fresh;
}

Call call_of(const Case& each, Index batch) {
  const Tensor &q = each.tensor("in.Q"), &k = each.tensor("in.K");
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
Matrix<bool> allowed_of(const Case& each, const Call& call, Index batch) {
  const Index q_len = call.query.rows(), k_len = call.key.rows();
  Matrix<bool> allowed = Matrix<bool>::Constant(call.heads * q_len, k_len, true);
  if (!each.has("in.attn_mask")) return allowed;
  const Tensor& mask = each.tensor("in.attn_mask");
  const bool boolean = each.dtype("in.attn_mask") == "U8";
  for (Index row = 0; row < allowed.rows(); ++row)
    for (Index key = 0; key < k_len; ++key)
      allowed(row, key) =
          key < mask.dim(-1) && (!boolean || mask.broadcast(batch, row / q_len, row % q_len, key) != 0);
  return allowed;
}

Matrix<float> bias_of(const Case& each, const Call& call, Index batch) {
  const Index q_len = call.query.rows(), k_len = call.key.rows();
  Matrix<float> bias = Matrix<float>::Zero(call.heads * q_len, k_len);
  if (!each.has("in.attn_mask") || each.dtype("in.attn_mask") == "U8") return bias;
  const Tensor& mask = each.tensor("in.attn_mask");
  for (Index row = 0; row < bias.rows(); ++row)
    for (Index key = 0; key < std::min(k_len, mask.dim(-1)); ++key)
      bias(row, key) = float(mask.broadcast(batch, row / q_len, row % q_len, key));
  return bias;
}

Matrix<float> attention(const Case& each, const Call& call, Index batch) {
  AttendOptions options{.heads = call.heads, .kv_heads = call.kv_heads, .query_offset = call.past_len};
  if (const double scale = attribute(each, "scale", 0); scale != 0) options.scale = scale;
  Index length = call.key.rows();
  if (each.has("in.nonpad_kv_seqlen")) {
    length = each.integers("in.nonpad_kv_seqlen")[std::size_t(batch)];
    options.query_offset = length - call.query.rows();
  }
  const double left = attribute(each, "left_window_size", -1),
               right = attribute(each, "right_window_size", -1);
  const bool causal = attribute(each, "is_causal", 0) != 0;
  const mask::Band band{.left = left < 0 ? unlimited : Index(left),
                        .right = causal      ? 0
                                 : right < 0 ? unlimited
                                             : Index(right)};
  const auto mask =
      mask::Dense(allowed_of(each, call, batch), {.heads = call.heads}) && band && mask::KeyLengths{{length}};
  const score::DenseBias bias(bias_of(each, call, batch), {.heads = call.heads});
  const double cap = attribute(each, "softcap", 0);
  if (cap == 0) return attend(call.query, call.key, call.value, options, mask, bias);
  return attend(call.query, call.key, call.value, options, mask, score::SoftCap{.limit = cap} >> bias);
}

void expect_equal_to(const Matrix<float>& got, const Case& each, const char* name, Index batch) {
  const Matrix<double> expected = packed(each.tensor(name), batch).cast<double>();
  EXPECT_TRUE(golden::match(got.cast<double>(), expected, tolerance_of(each)))
      << name << " of batch " << batch;
}

TEST(OnnxAttention, AgreesWithTheSuite) {
  for (const Case& each : cases_of("Attention")) {
    SCOPED_TRACE(each.name());
    for (Index batch = 0; batch < each.tensor("in.Q").dim(0); ++batch) {
      const Call call = call_of(each, batch);
      expect_equal_to(attention(each, call, batch), each, "out.Y", batch);
      if (each.has("out.present_key")) expect_equal_to(call.key, each, "out.present_key", batch);
      if (each.has("out.present_value")) expect_equal_to(call.value, each, "out.present_value", batch);
    }
  }
}

}  // namespace
}  // namespace headwise::onnx
