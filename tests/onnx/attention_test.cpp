// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/attention/attend.hpp>
#include <headwise/score/chain.hpp>
#include <headwise/score/soft_cap.hpp>

#include "onnx/attention_call.hpp"

namespace headwise::onnx {
namespace {

using golden::Case;

Matrix<float> attention(const Case& each, const Call& call, Index batch) {
  const AttendOptions options = options_of(each, call, batch);
  const auto mask = mask_of(each, call, batch);
  const score::DenseBias bias(bias_of(each, call, batch), {.heads = call.heads});
  const double cap = attribute(each, "softcap", 0);
  if (cap == 0) return attend(call.query, call.key, call.value, options, mask, bias);
  return attend(call.query, call.key, call.value, options, mask, score::SoftCap{.limit = cap} >> bias);
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
