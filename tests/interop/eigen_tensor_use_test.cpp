#include <headwise/core/random.hpp>
#include <headwise/interop/eigen_tensor.hpp>
#include <headwise/mask/causal.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/reference.hpp"

#include <cstdint>
#include <vector>

namespace {

namespace hw = headwise;

std::vector<float> numbers(hw::Index count, std::uint64_t seed) {
  hw::Rng rng(seed);
  const hw::Matrix<float> row = hw::normal(1, count, 1.0f, rng);
  return {row.data(), row.data() + count};
}

/// Head `head` of sequence `batch`, as a matrix [tokens, head_dim] of a row-major buffer [2, heads, 5, 4].
reference::Matrix head_of(const std::vector<float>& buffer, hw::Index heads, hw::Index batch,
                          hw::Index head) {
  reference::Matrix x(5, 4);
  for (hw::Index t = 0; t < 5; ++t)
    for (hw::Index c = 0; c < 4; ++c)
      x(t, c) = double(buffer[std::size_t((((batch * heads + head) * 5) + t) * 4 + c)]);
  return x;
}

TEST(EigenTensor, AttendsFromACacheOfAnotherLayoutInFloat) {
  const std::vector<float> queries = numbers(2 * 3 * 6 * 4, 1), keys = numbers(2 * 2 * 5 * 4, 2),
                           values = numbers(2 * 2 * 5 * 4, 3);
  const Eigen::TensorMap<const Eigen::Tensor<float, 4, Eigen::RowMajor>> query(queries.data(), 2, 3, 6, 4);
  const Eigen::TensorMap<const Eigen::Tensor<float, 4, Eigen::RowMajor>> key(keys.data(), 2, 2, 5, 4);
  const Eigen::TensorMap<const Eigen::Tensor<float, 4, Eigen::RowMajor>> value(values.data(), 2, 2, 5, 4);

  // [docs interop/eigen_tensor]
  // query [batch, q_len, 6 heads, head_dim]; the cache keeps key, value as [batch, 2 heads, k_len, head_dim]
  const Eigen::Tensor<float, 4, Eigen::RowMajor> output =
      hw::attend(hw::tokens_view(query, hw::layout::batch_tokens_heads),
                 hw::tokens_view(key, hw::layout::batch_heads_tokens),
                 hw::tokens_view(value, hw::layout::batch_heads_tokens), {.query_offset = hw::align_last},
                 hw::mask::Causal{});  // [batch, q_len, 6 heads, head_dim], like query
  // [docs end]

  reference::Problem causal;
  causal.allows = [](hw::Index i, hw::Index j) { return j <= i + 2; };
  ASSERT_EQ(output.dimension(0), 2);
  ASSERT_EQ(output.dimension(1), 3);
  ASSERT_EQ(output.dimension(2), 6);
  ASSERT_EQ(output.dimension(3), 4);
  for (hw::Index b = 0; b < 2; ++b) {
    for (hw::Index h = 0; h < 6; ++h) {
      reference::Matrix q(3, 4);
      for (hw::Index t = 0; t < 3; ++t)
        for (hw::Index c = 0; c < 4; ++c) q(t, c) = double(query(b, t, h, c));
      const auto expected =
          reference::attention(q, head_of(keys, 2, b, h / 3), head_of(values, 2, b, h / 3), causal);
      reference::Matrix got(3, 4);
      for (hw::Index t = 0; t < 3; ++t)
        for (hw::Index c = 0; c < 4; ++c) got(t, c) = double(output(b, t, h, c));
      EXPECT_TRUE(hw::check::near(got, expected, 2e-6)) << b << " " << h;
    }
  }
}

}  // namespace
