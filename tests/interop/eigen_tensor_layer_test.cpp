#include <headwise/interop/eigen_tensor.hpp>
#include <headwise/layer/linear.hpp>
#include <headwise/position/rotary.hpp>

#include <gtest/gtest.h>

#include "interop/tensors.hpp"
#include "support/check.hpp"

#include <string>
#include <type_traits>

namespace headwise {
namespace {

using check::random;

TEST(MapRows, AppliesALayerToTheTokensOfATensorInEveryKind) {
  const Index batch = 3, tokens = 4, heads = 2;
  const Matrix<double> rows = random(batch * tokens, heads * 3, 1);
  Rng rng(2);
  const layer::Linear<double> layer({.in = 6, .out = 5}, rng);
  const Matrix<double> expected = layer(rows);

  tensors::for_each_kind([&](auto kind) {
    constexpr int order = int(decltype(kind)::Tensor::Layout);
    const auto x = kind.from_rows(rows, batch, heads);
    const auto y = map_rows(tokens_view(x, kind.layout), [&](const auto& stacked) { return layer(stacked); });
    static_assert(std::is_same_v<decltype(y), const Eigen::Tensor<double, 3, order>>);
    EXPECT_EQ(y.dimension(2), 5);
    EXPECT_EQ((tensors::Kind<layout::BatchTokensFeatures, order>::to_rows(y, batch, tokens, 1, 5)), expected);
  });
}

TEST(MapRows, ReadsInPlaceWhereRowsLieBehindEachOther) {
  const Eigen::Tensor<double, 4, Eigen::RowMajor> x(2, 3, 4, 5);
  const auto pointer = [](const auto& view) {
    const double* data = nullptr;
    (void)map_rows(view, [&](const auto& rows) {
      data = rows.data();
      return Matrix<double>::Zero(rows.rows(), 1);
    });
    return data;
  };
  EXPECT_EQ(pointer(tokens_view(x, layout::batch_tokens_heads)), x.data());
  EXPECT_NE(pointer(tokens_view(x, layout::batch_heads_tokens)), x.data()) << "heads lie apart: a copy";
}

TEST(MapRows, NamesAResultOfAnotherLength) {
  const Eigen::Tensor<double, 3> x(2, 3, 4);
  try {
    (void)map_rows(tokens_view(x, layout::batch_tokens_features),
                   [](const auto&) { return random(2, 4, 1); });
    FAIL() << "accepted 2 rows for 6 tokens";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "map_rows: rows of the result is 2, expected 6; one a token");
  }
}

// One token at position 0, two heads: rotation along the head axis would turn the second.
TEST(MapRows, B59_RotatesByTheTokensPositionAndNotByTheHead) {
  Eigen::Tensor<double, 4, Eigen::RowMajor> query(1, 2, 1, 2);
  query.setZero();
  query(0, 0, 0, 0) = query(0, 1, 0, 0) = 1;
  const position::Rotary rotary({.head_dim = 2});

  const auto rotated = map_rows(tokens_view(query, layout::batch_heads_tokens),
                                [&](const auto& rows) { return rotate(rows, rotary, 2); });

  ASSERT_EQ(rotated.dimension(2), 4);
  for (Index head = 0; head < 2; ++head) {
    EXPECT_EQ(rotated(0, 0, 2 * head), 1);
    EXPECT_EQ(rotated(0, 0, 2 * head + 1), 0);
  }
}

}  // namespace
}  // namespace headwise
