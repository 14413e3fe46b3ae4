#include <headwise/attention/linear.hpp>

#include "onnx/onnx_case.hpp"

namespace headwise::onnx::linear_attention_test {
namespace {

using golden::Case;

/// An input [batch, length, width], batch entries one under the other as sequences; empty when it is not
/// there.
Matrix<float> rows_of(const Case& each, const std::string& name) {
  return each.has(name) ? Matrix<float>(golden::as_rows(each.tensor(name)).cast<float>()) : Matrix<float>();
}

/// Theirs is chosen by name, ours by what is given.
LinearRule<float> rule_of(const Case& each) {
  const std::string rule = attribute(each, "update_rule", std::string("gated_delta"));
  LinearRule<float> result;
  if (rule == "gated" || rule == "gated_delta") result.decay = rows_of(each, "in.decay");
  if (rule == "delta" || rule == "gated_delta") result.beta = rows_of(each, "in.beta");
  return result;
}

LinearOptions options_of(const Case& each) {
  const golden::Tensor& query = each.tensor("in.query");
  LinearOptions options{.heads = Index(attribute(each, "q_num_heads", 0)),
                        .kv_heads = Index(attribute(each, "kv_num_heads", 0)),
                        .rows = RaggedRows::uniform(query.dim(0), query.dim(1))};
  if (const double scale = attribute(each, "scale", 0); scale != 0) options.scale = scale;
  return options;
}

/// States [batch, kv_heads, head_dim, value_dim] have our layout as they are.
TEST(OnnxLinearAttention, AgreesWithTheSuite) {
  for (const Case& each : cases_of("LinearAttention")) {
    SCOPED_TRACE(each.name());
    const auto got = attend_linear_with_state(rows_of(each, "in.query"), rows_of(each, "in.key"),
                                              rows_of(each, "in.value"), options_of(each), rule_of(each),
                                              rows_of(each, "in.past_state"));
    const auto expect = [&](const Matrix<float>& matrix, const std::string& name) {
      EXPECT_TRUE(
          golden::match(matrix.cast<double>(), golden::as_rows(each.tensor(name)), tolerance_of(each)))
          << name;
    };
    expect(got.output, "out.output");
    expect(got.state, "out.present_state");
  }
}

}  // namespace
}  // namespace headwise::onnx::linear_attention_test
