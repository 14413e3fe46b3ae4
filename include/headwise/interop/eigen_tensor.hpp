#pragma once

#include <headwise/interop/tokens_view.hpp>

#include <unsupported/Eigen/CXX11/Tensor>

#include <array>
#include <cstddef>
#include <type_traits>

/// Which axis of a tensor is which. The caller says it: [batch, 8, 8, 64] looks alike either way.
namespace headwise::layout {

/// [batch, tokens, features]: heads are blocks of features, as in a Matrix.
struct BatchTokensFeatures {
  static constexpr int rank = 3, batch = 0, tokens = 1, heads = -1, columns = 2;
};

/// [batch, tokens, heads, head_dim]
struct BatchTokensHeads {
  static constexpr int rank = 4, batch = 0, tokens = 1, heads = 2, columns = 3;
};

/// [batch, heads, tokens, head_dim]
struct BatchHeadsTokens {
  static constexpr int rank = 4, batch = 0, tokens = 2, heads = 1, columns = 3;
};

inline constexpr BatchTokensFeatures batch_tokens_features{};
inline constexpr BatchTokensHeads batch_tokens_heads{};
inline constexpr BatchHeadsTokens batch_heads_tokens{};

}  // namespace headwise::layout

namespace headwise {

namespace interop {

/// Tensors that own or map memory; expressions (slices, shuffles, sums) have none until they are evaluated.
template <class T>
inline constexpr bool is_tensor = false;
template <class Scalar, int rank, int options, class I>
inline constexpr bool is_tensor<Eigen::Tensor<Scalar, rank, options, I>> = true;
template <class Scalar, class Sizes, int options, class I>
inline constexpr bool is_tensor<Eigen::TensorFixedSize<Scalar, Sizes, options, I>> = true;

template <class T>
inline constexpr bool is_tensor_map = false;
template <class Plain, int options, template <class> class MakePointer>
inline constexpr bool is_tensor_map<Eigen::TensorMap<Plain, options, MakePointer>> = true;

}  // namespace interop

/// A tensor with memory that lives on after the call: a named Tensor, or any TensorMap.
template <class T>
concept TensorWithMemory = interop::is_tensor_map<std::remove_cvref_t<T>> ||
    (interop::is_tensor<std::remove_cvref_t<T>>&& std::is_lvalue_reference_v<T>);

/// A layout that names as many axes as the tensor has.
template <class Layout, class T>
concept LayoutOf = int(std::remove_cvref_t<T>::NumIndices) == Layout::rank;

/// The tokens of a tensor, and what kind of tensor it is: attention of such tokens returns the same kind.
template <class Element_, class Layout, int storage_order>
struct TensorTokens : TokensView<Element_> {
  using Axes = Layout;
  using Scalar = std::remove_const_t<Element_>;
  using Tensor = Eigen::Tensor<Scalar, Layout::rank, storage_order>;
};

/// The tokens of an Eigen::Tensor or TensorMap, row- or column-major, without a copy: what the verbs take.
///
///     attend(tokens_view(query, layout::batch_heads_tokens), tokens_view(key, ...), tokens_view(value, ...))
///
/// layout is one of layout::batch_tokens_features (rank 3), batch_tokens_heads and batch_heads_tokens (rank
/// 4). The tensor must outlive the view; temporaries and expressions do not compile: evaluate them to a
/// tensor.
template <TensorWithMemory T, LayoutOf<T> Layout>
auto tokens_view(T&& tensor, Layout) {
  using Plain = std::remove_cvref_t<T>;
  using Element = std::remove_pointer_t<decltype(tensor.data())>;
  constexpr bool row_major = int(Plain::Layout) == int(Eigen::RowMajor);
  std::array<Index, std::size_t(Layout::rank)> size{}, stride{};
  size[Layout::batch] = Index(tensor.dimension(Layout::batch));
  size[Layout::tokens] = Index(tensor.dimension(Layout::tokens));
  size[Layout::columns] = Index(tensor.dimension(Layout::columns));
  if constexpr (Layout::rank == 4) size[Layout::heads] = Index(tensor.dimension(Layout::heads));
  Index next = 1;  // strides grow in Index, whatever narrow index the tensor counts with
  for (std::size_t i = 0; i < size.size(); ++i) {
    const std::size_t axis = row_major ? size.size() - 1 - i : i;
    stride[axis] = next;
    next *= size[axis];
  }
  TensorTokens<Element, Layout, row_major ? Eigen::RowMajor : Eigen::ColMajor> view;
  view.data = tensor.data();
  view.batch = size[Layout::batch];
  view.tokens = size[Layout::tokens];
  view.head_dim = size[Layout::columns];
  view.batch_stride = stride[Layout::batch];
  view.row_stride = stride[Layout::tokens];
  view.column_stride = stride[Layout::columns];
  if constexpr (Layout::rank == 4) {
    view.heads = size[Layout::heads];
    view.head_stride = stride[Layout::heads];
  }
  return view;
}

/// Tokens that know what kind of tensor they came from.
template <class T>
concept TokensOfTensor = Tokens<T> && requires {
  typename T::Tensor;
};

/// What attention of tensors returns: output in the kind of the query tensor, and the natural logarithm of
/// each softmax's sum, lse [batch * q_len, heads]. A query that sees no key has zeros and -inf.
template <class Tensor>
struct AttendedTensor {
  Tensor output;
  Matrix<typename Tensor::Scalar> lse;
};

namespace interop {

/// A tensor of the kind that Q came from, not initialised.
template <class Q>
typename Q::Tensor make_tensor(Index batch, Index tokens, Index heads, Index head_dim) {
  using Axes = typename Q::Axes;
  typename Q::Tensor::Dimensions size;
  size[Axes::batch] = batch;
  size[Axes::tokens] = tokens;
  if constexpr (Axes::rank == 4) {
    size[Axes::heads] = heads;
    size[Axes::columns] = head_dim;
  } else {
    size[Axes::columns] = heads * head_dim;
  }
  return typename Q::Tensor(size);
}

template <class Q, class K, class V, class Mask, class Score>
AttendedTensor<typename Q::Tensor> attend_tensors(const Q& query, const K& key, const V& value,
                                                  const AttendOptions& options, const Mask& mask,
                                                  const Score& score) {
  using Scalar = scalar_of<Q>;
  AttendedTensor<typename Q::Tensor> result;
  result.lse = attend_views(query.read_only(), key.read_only(), value.read_only(), options, mask, score,
                            [&](const kernel::Problem<Scalar>& problem) -> TokensView<Scalar> {
                              result.output =
                                  make_tensor<Q>(query.batch, query.tokens, problem.heads, problem.value_dim);
                              return tokens_view(result.output, typename Q::Axes{});
                            });
  return result;
}

}  // namespace interop

/// Attention of tensors, with the log-sum-exp: what backward needs.
///
/// Each of query, key and value may have a layout and a storage order of its own; the output has the query's.
/// Where shapes name heads, the options need not: with rank 4, `{}` serves grouped queries, too. Sequences
/// are the batch, so mask and score see the sequence's number in their Context as with stacked rows; the
/// numbers are those of `attend` on the same rows, bit for bit. Cost and errors as `attend_into`, and the
/// output's memory.
template <TokensOfTensor Q, Tokens K, Tokens V, class... Policies>
requires SameScalar<Q, K, V> && PoliciesOf<scalar_of<Q>, Policies...> AttendedTensor<typename Q::Tensor>
attend_with_lse(const Q& query, const K& key, const V& value, const AttendOptions& options,
                const Policies&... policies) {
  const auto body = [&](const auto& mask, const auto& score) {
    return interop::attend_tensors(query, key, value, options, mask, score);
  };
  return interop::with_policies(body, policies...);
}

template <TokensOfTensor Q, Tokens K, Tokens V, class... Policies>
requires SameScalar<Q, K, V> && PoliciesOf<scalar_of<Q>, Policies...> AttendedTensor<typename Q::Tensor>
attend_with_lse(const Q& query, const K& key, const V& value, const Policies&... policies) {
  return headwise::attend_with_lse(query, key, value, AttendOptions{}, policies...);
}

/// Attention of tensors: the output of attend_with_lse.
template <TokensOfTensor Q, Tokens K, Tokens V, class... Policies>
requires SameScalar<Q, K, V> && PoliciesOf<scalar_of<Q>, Policies...>
typename Q::Tensor attend(const Q& query, const K& key, const V& value, const AttendOptions& options,
                          const Policies&... policies) {
  return headwise::attend_with_lse(query, key, value, options, policies...).output;
}

template <TokensOfTensor Q, Tokens K, Tokens V, class... Policies>
requires SameScalar<Q, K, V> && PoliciesOf<scalar_of<Q>, Policies...>
typename Q::Tensor attend(const Q& query, const K& key, const V& value, const Policies&... policies) {
  return headwise::attend_with_lse(query, key, value, AttendOptions{}, policies...).output;
}

/// A layer applied to every token of a tensor, or whatever else reads rows and gives as many.
///
///     map_rows(x, [&](const auto& rows) { return layer(rows, {.query_rows = x.borders()}); })
///
/// f gets the matrix [batch * tokens, features] in place where rows lie behind each other, else a copy; its
/// result [batch * tokens, n] becomes a tensor [batch, tokens, n] in the storage order of x. Throws
/// ShapeError when f gives another number of rows.
template <TokensOfTensor X, class F>
auto map_rows(const X& x, const F& f) {
  using Scalar = scalar_of<X>;
  using Rows = Eigen::Map<const Matrix<Scalar>, Eigen::Unaligned, Eigen::OuterStride<>>;
  using Y = TensorTokens<Scalar, layout::BatchTokensFeatures, int(X::Tensor::Layout)>;
  const bool in_place =
      interop::rows_are_stacked(x) && interop::columns_are_flat(x) && interop::flat_column_stride(x) == 1;
  const Matrix<Scalar> copy = in_place ? Matrix<Scalar>() : to_matrix(x);
  const Rows rows(in_place ? x.data : copy.data(), x.batch * x.tokens, x.features(),
                  Eigen::OuterStride<>(in_place ? interop::stacked_row_stride(x) : x.features()));
  const Matrix<Scalar> result = f(rows);
  expect_equal("map_rows: rows of the result", result.rows(), rows.rows(), "one a token");
  auto y = interop::make_tensor<Y>(x.batch, x.tokens, 1, result.cols());
  write_matrix(result, tokens_view(y, layout::batch_tokens_features));
  return y;
}

}  // namespace headwise
