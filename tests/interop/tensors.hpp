#pragma once

#include <headwise/interop/eigen_tensor.hpp>

#include <type_traits>

/// Tensors written and read index by index, through no view of the library.
namespace headwise::tensors {

template <class Layout, int order, class Scalar = double>
struct Kind {
  using Axes = Layout;
  using Tensor = Eigen::Tensor<Scalar, Layout::rank, order>;
  static constexpr Layout layout{};

  /// The tensor whose stacked rows [batch * tokens, heads * head_dim] are `rows`.
  static Tensor from_rows(const Matrix<double>& rows, Index batch, Index heads) {
    const Index tokens = batch == 0 ? 0 : rows.rows() / batch, head_dim = rows.cols() / heads;
    Tensor x = shaped(batch, tokens, heads, head_dim);
    for (Index b = 0; b < batch; ++b)
      for (Index t = 0; t < tokens; ++t)
        for (Index h = 0; h < heads; ++h)
          for (Index c = 0; c < head_dim; ++c)
            at(x, b, t, h, c, head_dim) = Scalar(rows(b * tokens + t, h * head_dim + c));
    return x;
  }

  static Matrix<Scalar> to_rows(const Tensor& x, Index batch, Index tokens, Index heads, Index head_dim) {
    Matrix<Scalar> rows(batch * tokens, heads * head_dim);
    for (Index b = 0; b < batch; ++b)
      for (Index t = 0; t < tokens; ++t)
        for (Index h = 0; h < heads; ++h)
          for (Index c = 0; c < head_dim; ++c)
            rows(b * tokens + t, h * head_dim + c) = at(x, b, t, h, c, head_dim);
    return rows;
  }

  static Tensor shaped(Index batch, Index tokens, Index heads, Index head_dim) {
    if constexpr (std::is_same_v<Layout, layout::BatchTokensFeatures>) {
      return Tensor(batch, tokens, heads * head_dim);
    } else if constexpr (std::is_same_v<Layout, layout::BatchTokensHeads>) {
      return Tensor(batch, tokens, heads, head_dim);
    } else {
      return Tensor(batch, heads, tokens, head_dim);
    }
  }

  static auto& at(auto& x, Index b, Index t, Index h, Index c, Index head_dim) {
    if constexpr (std::is_same_v<Layout, layout::BatchTokensFeatures>) {
      return x(b, t, h * head_dim + c);
    } else if constexpr (std::is_same_v<Layout, layout::BatchTokensHeads>) {
      return x(b, t, h, c);
    } else {
      return x(b, h, t, c);
    }
  }
};

using Features = Kind<layout::BatchTokensFeatures, Eigen::RowMajor>;
using FeaturesColumnMajor = Kind<layout::BatchTokensFeatures, Eigen::ColMajor>;
using TokensHeads = Kind<layout::BatchTokensHeads, Eigen::RowMajor>;
using TokensHeadsColumnMajor = Kind<layout::BatchTokensHeads, Eigen::ColMajor>;
using HeadsTokens = Kind<layout::BatchHeadsTokens, Eigen::RowMajor>;
using HeadsTokensColumnMajor = Kind<layout::BatchHeadsTokens, Eigen::ColMajor>;

/// visit(kind) for each of the six.
void for_each_kind(auto&& visit) {
  visit(Features{});
  visit(FeaturesColumnMajor{});
  visit(TokensHeads{});
  visit(TokensHeadsColumnMajor{});
  visit(HeadsTokens{});
  visit(HeadsTokensColumnMajor{});
}

}  // namespace headwise::tensors
