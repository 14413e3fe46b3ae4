// Attention is compiled for one instruction set only, which saves time; other tests cover them all.
#define HEADWISE_WIDEST_TARGET 0

#include <headwise/attention/attend.hpp>
#include <headwise/layer/normalise.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/position/rotary.hpp>
#include <headwise/score/function.hpp>

#include "onnx/onnx_case.hpp"

namespace headwise::onnx {
namespace {

using golden::Case;
using golden::Tensor;

TEST(OnnxRmsNormalization, AgreesWithTheSuite) {
  for (const Case& each : cases_of("RMSNormalization")) {
    SCOPED_TRACE(each.name());
    const Tensor &x = each.tensor("in.X"), &w = each.tensor("in.W"), &y = each.tensor("out.Y");
    const Index width = w.size(), rows = x.size() / width;  // all axes from `axis` on are one
    const auto as = [](const Tensor& tensor, Index r, Index c) {
      return Matrix<float>(Eigen::Map<const Matrix<double>>(tensor.values().data(), r, c).cast<float>());
    };
    const Matrix<float> got = rms_norm(as(x, rows, width), as(w, 1, width), attribute(each, "epsilon", 1e-5));
    EXPECT_TRUE(golden::match(got.cast<double>(), as(y, rows, width).cast<double>(), tolerance_of(each)));
  }
}

/// The suite gives sines and cosines; ours is a table of one row a token.
position::RotaryTable<float> table_of(const Case& each, Index batch, Index length, Index head_dim) {
  const Tensor &cosines = each.tensor("in.cos_cache"), &sines = each.tensor("in.sin_cache");
  const Index pairs = cosines.dim(-1);
  position::RotaryTable<float> table{Matrix<float>(length, pairs), Matrix<float>(length, pairs), head_dim,
                                     attribute(each, "interleaved", 0) != 0 ? position::Pairing::interleaved
                                                                            : position::Pairing::half_split};
  for (Index i = 0; i < length; ++i) {
    for (Index t = 0; t < pairs; ++t) {
      const auto at = [&](const Tensor& cache) {
        if (!each.has("in.position_ids")) return cache.at(batch, i, t);
        return cache.at(Index(each.tensor("in.position_ids").at(batch, i)), t);
      };
      table.cosines(i, t) = float(at(cosines));
      table.sines(i, t) = float(at(sines));
    }
  }
  return table;
}

TEST(OnnxRotaryEmbedding, AgreesWithTheSuite) {
  for (const Case& each : cases_of("RotaryEmbedding")) {
    SCOPED_TRACE(each.name());
    const Tensor& input = each.tensor("in.input");
    for (Index batch = 0; batch < input.dim(0); ++batch) {
      const Matrix<float> x = packed(input, batch);
      const Index heads = input.rank() == 4 ? input.dim(1) : Index(attribute(each, "num_heads", 0));
      const Matrix<float> got = position::rotate(x, table_of(each, batch, x.rows(), x.cols() / heads), heads);
      const Matrix<double> expected = packed(each.tensor("out.output"), batch).cast<double>();
      EXPECT_TRUE(golden::match(got.cast<double>(), expected, tolerance_of(each)));
    }
  }
}

TEST(OnnxFlexAttention, AgreesWithTheSuite) {
  for (const Case& each : cases_of("FlexAttention")) {
    SCOPED_TRACE(each.name());
    const auto& attributes = each.entry().at("attributes");
    const auto mod = [&](const char* name) {
      return attributes.contains(name) ? attributes.at(name).at("kind").get<std::string>() : std::string();
    };
    const auto value = [&](const char* name) { return attributes.at(name).at("value").get<float>(); };
    const Tensor &q = each.tensor("in.Q"), &k = each.tensor("in.K");
    for (Index batch = 0; batch < q.dim(0); ++batch) {
      const Matrix<float> query = packed(q, batch), key = packed(k, batch),
                          v = packed(each.tensor("in.V"), batch);
      const AttendOptions options{.heads = q.dim(1), .kv_heads = k.dim(1), .query_offset = 0};
      Matrix<float> got;
      if (mod("score_mod") == "causal_topleft") {
        got = attend(query, key, v, options, mask::Causal{});
      } else {
        ASSERT_TRUE(mod("score_mod").empty() || mod("score_mod") == "add_constant");
        const float bias = mod("score_mod").empty() ? 0 : value("score_mod");
        got = attend(query, key, v, options, mask::None{},
                     [bias](auto s, Position, Position) { return s + bias; });
      }
      if (!mod("prob_mod").empty()) {
        ASSERT_EQ(mod("prob_mod"), "multiply_constant");  // which the sum of values passes on
        got *= value("prob_mod");
      }
      const Matrix<double> expected = packed(each.tensor("out.Y"), batch).cast<double>();
      EXPECT_TRUE(golden::match(got.cast<double>(), expected, tolerance_of(each)));
    }
  }
}

}  // namespace
}  // namespace headwise::onnx
