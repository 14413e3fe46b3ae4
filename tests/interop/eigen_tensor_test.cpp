#include <headwise/interop/eigen_tensor.hpp>

#include <gtest/gtest.h>

#include "interop/tensors.hpp"
#include "support/check.hpp"

#include <complex>
#include <string>
#include <utility>
#include <vector>

namespace headwise {
namespace {

using check::random;
using tensors::for_each_kind;

template <class T, class Layout>
concept Viewable = requires(T&& tensor, Layout layout) {
  tokens_view(std::forward<T>(tensor), layout);
};

TEST(TokensOfTensors, FindEachElementInEveryLayoutAndStorageOrder) {
  const Index batch = 3, tokens = 4, heads = 2, head_dim = 5;
  const Matrix<double> rows = random(batch * tokens, heads * head_dim, 1);
  for_each_kind([&](auto kind) {
    const auto tensor = kind.from_rows(rows, batch, heads);
    const auto view = tokens_view(tensor, kind.layout);
    EXPECT_EQ(view.batch, batch);
    EXPECT_EQ(view.tokens, tokens);
    EXPECT_EQ(view.features(), heads * head_dim);
    EXPECT_EQ(view.data, tensor.data()) << "a view copies nothing";
    const bool cut = view.heads > 0;
    EXPECT_EQ(cut, kind.layout.rank == 4);
    for (Index b = 0; b < batch; ++b)
      for (Index t = 0; t < tokens; ++t)
        for (Index h = 0; h < heads; ++h)
          for (Index c = 0; c < head_dim; ++c)
            EXPECT_EQ(cut ? view(b, t, h, c) : view(b, t, 0, h * head_dim + c),
                      rows(b * tokens + t, h * head_dim + c));
  });
}

TEST(TokensOfTensors, HaveTheStridesOfTheirStorage) {
  const Eigen::Tensor<float, 4, Eigen::RowMajor> row_major(2, 3, 5, 7);
  const auto tokens_first = tokens_view(row_major, layout::batch_tokens_heads);
  EXPECT_EQ(tokens_first.batch_stride, 105);
  EXPECT_EQ(tokens_first.row_stride, 35);
  EXPECT_EQ(tokens_first.head_stride, 7);
  EXPECT_EQ(tokens_first.column_stride, 1);
  const auto heads_first = tokens_view(row_major, layout::batch_heads_tokens);
  EXPECT_EQ(heads_first.heads, 3);
  EXPECT_EQ(heads_first.tokens, 5);
  EXPECT_EQ(heads_first.head_stride, 35);
  EXPECT_EQ(heads_first.row_stride, 7);

  const Eigen::Tensor<float, 3> column_major(2, 3, 5);
  const auto features = tokens_view(column_major, layout::batch_tokens_features);
  EXPECT_EQ(features.batch_stride, 1);
  EXPECT_EQ(features.row_stride, 2);
  EXPECT_EQ(features.column_stride, 6);
}

TEST(TokensOfTensors, ReadMappedMemoryOwnedByOthers) {
  std::vector<double> memory(2 * 3 * 4);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = double(i);
  const std::vector<double>& constant = memory;

  const auto writable =
      tokens_view(Eigen::TensorMap<Eigen::Tensor<double, 3, Eigen::RowMajor>>(memory.data(), 2, 3, 4),
                  layout::batch_tokens_features);
  EXPECT_EQ(writable(1, 2, 0, 3), 23);
  writable(1, 2, 0, 3) = -1;
  EXPECT_EQ(memory.back(), -1);

  const Eigen::TensorMap<const Eigen::Tensor<double, 3, Eigen::RowMajor>> map(constant.data(), 2, 3, 4);
  const auto read_only = tokens_view(map, layout::batch_tokens_features);
  static_assert(std::is_same_v<decltype(read_only.data), const double*>);
  EXPECT_EQ(read_only(0, 1, 0, 2), 6);

  Eigen::TensorFixedSize<double, Eigen::Sizes<2, 3, 4>, Eigen::RowMajor> fixed;
  fixed(1, 0, 2) = 8;
  EXPECT_EQ(tokens_view(fixed, layout::batch_tokens_features)(1, 0, 0, 2), 8);
}

TEST(TokensOfTensors, AreWritableOnlyWhereTheTensorIs) {
  Eigen::Tensor<double, 4> tensor(1, 2, 3, 4);
  const auto& constant = tensor;
  static_assert(std::is_same_v<decltype(tokens_view(tensor, layout::batch_tokens_heads).data), double*>);
  static_assert(
      std::is_same_v<decltype(tokens_view(constant, layout::batch_tokens_heads).data), const double*>);
  static_assert(WritableTokens<decltype(tokens_view(tensor, layout::batch_tokens_heads)), double>);
  static_assert(!WritableTokens<decltype(tokens_view(constant, layout::batch_tokens_heads)), double>);
  static_assert(!WritableTokens<decltype(tokens_view(tensor, layout::batch_tokens_heads)), float>);
  SUCCEED();
}

TEST(TokensOfTensors, AreRefusedForTemporariesExpressionsAndOtherRanks) {
  using Four = Eigen::Tensor<double, 4>;
  using Three = Eigen::Tensor<double, 3>;
  using Heads = layout::BatchTokensHeads;
  static_assert(Viewable<Four&, Heads>);
  static_assert(Viewable<const Four&, Heads>);
  static_assert(!Viewable<Four, Heads>, "a temporary would be gone");
  static_assert(Viewable<Eigen::TensorMap<Four>, Heads>, "a temporary map is not: its memory stays");

  using Corner = Eigen::array<Index, 4>;
  using Slice = decltype(std::declval<Four&>().slice(Corner{}, Corner{}));
  using Sum = decltype(std::declval<Four&>() + std::declval<Four&>());
  static_assert(!Viewable<Slice&, Heads>);
  static_assert(!Viewable<Sum&, Heads>);
  static_assert(!Viewable<Eigen::TensorRef<Four>&, Heads>);

  static_assert(!Viewable<Three&, Heads>);
  static_assert(!Viewable<Three&, layout::BatchHeadsTokens>);
  static_assert(!Viewable<Four&, layout::BatchTokensFeatures>);
  static_assert(!Viewable<Four&, int>);
  SUCCEED();
}

// A narrow index of the tensor must not narrow the strides: 4 * 40000 * 40000 * 2 elements lie beyond 2^32.
TEST(TokensOfTensors, B124_CountStridesInIndex) {
  double nothing = 0;
  using Narrow = Eigen::Tensor<double, 4, Eigen::RowMajor, int>;
  const Eigen::TensorMap<Narrow> map(&nothing, 4, 40000, 40000, 2);
  const auto view = tokens_view(map, layout::batch_heads_tokens);
  EXPECT_EQ(view.batch_stride, Index(40000) * 40000 * 2);
  EXPECT_EQ(view.head_stride, 80000);
}

TEST(TokensOfTensors, AllowEmptyTensors) {
  const Eigen::Tensor<double, 4, Eigen::RowMajor> none(0, 3, 2, 4), no_tokens(2, 0, 2, 4);
  EXPECT_EQ(tokens_view(none, layout::batch_tokens_heads).batch, 0);
  EXPECT_EQ(tokens_view(no_tokens, layout::batch_tokens_heads).tokens, 0);
  EXPECT_EQ(to_matrix(tokens_view(none, layout::batch_tokens_heads)).rows(), 0);
  EXPECT_EQ(to_matrix(tokens_view(no_tokens, layout::batch_tokens_heads)).cols(), 8);
}

TEST(TokensOfTensors, AreTheMatrixThatLayersRead) {
  const Index batch = 3, heads = 2;
  const Matrix<double> rows = random(batch * 4, heads * 5, 2);
  for_each_kind([&](auto kind) {
    const auto tensor = kind.from_rows(rows, batch, heads);
    EXPECT_EQ(to_matrix(tokens_view(tensor, kind.layout)), rows);

    auto copy = kind.shaped(batch, 4, heads, 5);
    write_matrix(2.0 * rows, tokens_view(copy, kind.layout));
    EXPECT_EQ(kind.to_rows(copy, batch, 4, heads, 5), 2.0 * rows);
  });

  const auto features = tensors::Features::from_rows(rows, batch, heads);
  const auto x = matrix_view(tokens_view(features, layout::batch_tokens_features));
  EXPECT_EQ(x, rows);
  EXPECT_EQ(x.data(), features.data());
}

}  // namespace
}  // namespace headwise
