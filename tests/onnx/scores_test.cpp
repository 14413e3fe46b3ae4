// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/attention/weights.hpp>
#include <headwise/score/soft_cap.hpp>

#include "onnx/attention_call.hpp"

namespace headwise::onnx::scores_test {
namespace {

using golden::Case;

/// The operator's output qk_matmul_output, [heads * q_len, k_len]: the scores after as many steps as its mode
/// says.
Matrix<float> scores(const Case& each, const Call& call, Index batch) {
  const AttendOptions options = options_of(each, call, batch);
  const int mode = int(attribute(each, "qk_matmul_output_mode", 0));
  if (mode == 0) return attention_scores(call.query, call.key, options);
  const double cap = attribute(each, "softcap", 0);
  if (mode == 1)
    return attention_scores(call.query, call.key, options, mask::None{}, score::SoftCap{.limit = cap});
  EXPECT_EQ(cap, 0) << "no case asks for a bias after a cap";
  const auto mask = mask_of(each, call, batch);
  const score::DenseBias bias(bias_of(each, call, batch), {.heads = call.heads});
  return mode == 2 ? attention_scores(call.query, call.key, options, mask, bias)
                   : attention_weights(call.query, call.key, options, mask, bias);
}

/// [batch, heads, q_len, k_len] of one batch entry as [heads * q_len, k_len].
Matrix<double> stacked(const golden::Tensor& tensor, Index batch) {
  const Index q_len = tensor.dim(2);
  Matrix<double> result(tensor.dim(1) * q_len, tensor.dim(3));
  for (Index row = 0; row < result.rows(); ++row)
    for (Index key = 0; key < result.cols(); ++key)
      result(row, key) = tensor.at(batch, row / q_len, row % q_len, key);
  return result;
}

TEST(OnnxAttention, ScoresAfterEachStepAgreeWithTheSuite) {
  int compared = 0;
  const std::vector<Case> cases = cases_of("Attention");
  for (const Case& each : cases) {
    if (!each.has("out.qk_matmul_output")) continue;
    SCOPED_TRACE(each.name());
    for (Index batch = 0; batch < each.tensor("in.Q").dim(0); ++batch, ++compared) {
      const Matrix<float> got = scores(each, call_of(each, batch), batch);
      EXPECT_TRUE(golden::match(got.cast<double>(), stacked(each.tensor("out.qk_matmul_output"), batch),
                                tolerance_of(each)));
    }
  }
  EXPECT_TRUE(cases.empty() || compared > 0);
}

}  // namespace
}  // namespace headwise::onnx::scores_test
