#pragma once

#include <headwise/attention/attend.hpp>

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

namespace headwise {

/// Batched tokens anywhere in memory, in sequences of one length. Element (sequence, token, head, column) is
/// at
///
///     data + sequence * batch_stride + token * row_stride + head * head_stride + column * column_stride
///
/// A view: the memory must outlive it. Element is const where it may only be read.
template <class Element_>
struct TokensView {
  using Element = Element_;
  using Scalar = std::remove_const_t<Element>;

  Element* data = nullptr;
  Index batch = 0, tokens = 0;
  Index heads = 0;     ///< 0: one block of features, cut into heads by the options of the call
  Index head_dim = 0;  ///< numbers in a head; where heads is 0, all features of a token
  Index batch_stride = 0, row_stride = 0, head_stride = 0, column_stride = 1;

  Index features() const noexcept { return std::max<Index>(heads, 1) * head_dim; }

  /// The sequences, as matrices with stacked rows state them: `.query_rows` of a call.
  RaggedRows borders() const { return RaggedRows::uniform(batch, tokens); }

  TokensView<const Scalar> read_only() const noexcept {
    return {data, batch, tokens, heads, head_dim, batch_stride, row_stride, head_stride, column_stride};
  }

  Element& operator()(Index sequence, Index token, Index head, Index column) const noexcept {
    return data[sequence * batch_stride + token * row_stride + head * head_stride + column * column_stride];
  }
};

/// A TokensView, or a type that adds to it what tensor it came from.
template <class T>
concept Tokens = requires {
  typename T::Element;
}
&&std::derived_from<T, TokensView<typename T::Element>>;

/// Tokens that may be written, in the scalar of a call.
template <class T, class Scalar>
concept WritableTokens = Tokens<T> && std::same_as<typename T::Element, Scalar>;

namespace interop {

template <class Scalar>
void check_view(const attention::Border& border, const TokensView<const Scalar>& x, std::string_view name) {
  const auto not_negative = [&](std::string_view what, Index got) {
    if (got < 0) border.not_negative(std::string(what).append(" of ").append(name), got);
  };
  not_negative("batch", x.batch);
  not_negative("tokens", x.tokens);
  not_negative("heads", x.heads);
  not_negative("head_dim", x.head_dim);
  not_negative("batch_stride", x.batch_stride);
}

/// Fills an option that was left alone from the shape; one that was set must agree with it.
inline void settle(const attention::Border& border, Index& option, Index untouched, Index shape,
                   std::string_view what) {
  if (shape == 0) return;
  if (option == untouched) option = shape;
  border.equal(what, option, shape, "the shape of the tensor says so; leave the option out");
}

/// The options of a call on stacked rows, with what the shapes of the views say.
template <class Scalar>
AttendOptions settled_options(const attention::Border& border, const TokensView<const Scalar>& query,
                              const TokensView<const Scalar>& key, const TokensView<const Scalar>& value,
                              AttendOptions options) {
  check_view(border, query, "query");
  check_view(border, key, "key");
  check_view(border, value, "value");
  if (!options.query_rows.whole() || !options.key_rows.whole()) {
    throw ShapeError(
        border.of("query_rows or key_rows is given for tensors, expected neither; their batch says where "
                  "sequences end (mask::KeyLengths hides padding)"));
  }
  border.equal("batch of key", key.batch, query.batch, "query, key and value have one batch");
  border.equal("batch of value", value.batch, query.batch, "query, key and value have one batch");
  border.equal("tokens of value", value.tokens, key.tokens, "one value a key");
  settle(border, options.heads, 1, query.heads, "options.heads");
  settle(border, options.kv_heads, 0, key.heads, "options.kv_heads");
  if (value.heads > 0) {
    const Index kv_heads = options.kv_heads == 0 ? options.heads : options.kv_heads;
    border.equal("heads of value", value.heads, kv_heads, "as many as of key");
  }
  options.query_rows = query.borders();
  options.key_rows = key.borders();
  return options;
}

/// The view as kernels read it, cut into `heads` where its shape is not.
template <class Element>
kernel::Operand<Element> operand(const TokensView<Element>& x, Index heads) {
  const Index head_stride =
      x.heads > 0 ? x.head_stride : x.head_dim / attention::head_count(heads) * x.column_stride;
  return {x.data,          x.batch * x.tokens, x.features(),  x.row_stride,
          x.column_stride, head_stride,        x.batch_stride};
}

/// `name` must have the shape of the call's output.
template <class Scalar>
void check_output(const attention::Border& border, const std::string& name,
                  const TokensView<const Scalar>& out, const TokensView<const Scalar>& query,
                  const kernel::Problem<Scalar>& problem) {
  check_view(border, out, name);
  border.equal("batch of " + name, out.batch, query.batch, "as many sequences as of queries");
  border.equal("tokens of " + name, out.tokens, query.tokens, "one a query");
  if (out.heads == 0) {
    border.equal("features of " + name, out.head_dim, problem.heads * problem.value_dim, "heads * value_dim");
    return;
  }
  border.equal("heads of " + name, out.heads, problem.heads, "as many as of queries");
  border.equal("head_dim of " + name, out.head_dim, problem.value_dim, "as wide as the values");
}

template <class Scalar>
void set_zero(const TokensView<Scalar>& x) {
  for (Index b = 0; b < x.batch; ++b)
    for (Index t = 0; t < x.tokens; ++t)
      for (Index h = 0; h < std::max<Index>(x.heads, 1); ++h)
        for (Index c = 0; c < x.head_dim; ++c) x(b, t, h, c) = Scalar(0);
}

/// The body of every form of `attend` on views. destination(problem) gives the checked view that the output
/// goes to. Returns the log-sum-exp, [batch * q_len, heads].
template <class Scalar, class Mask, class Score, class Destination>
Matrix<Scalar> attend_views(const TokensView<const Scalar>& query, const TokensView<const Scalar>& key,
                            const TokensView<const Scalar>& value, const AttendOptions& options,
                            const Mask& mask, const Score& score, const Destination& destination) {
  const AttendOptions settled = settled_options({"attend"}, query, key, value, options);
  const Index kv_heads = attention::detail::kv_heads_of(settled);
  const auto problem = attention::make_problem(operand(query, settled.heads), operand(key, kv_heads),
                                               operand(value, kv_heads), settled, mask, score);
  const TokensView<Scalar> out = destination(problem);
  Matrix<Scalar> lse =
      Matrix<Scalar>::Constant(query.batch * query.tokens, problem.heads, kernel::hidden<Scalar>());
  kernel::forward(problem, mask, score, kernel::ForwardResult<Scalar>{operand(out, problem.heads), lse});
  return lse;
}

/// f(mask, score) with the policies of a call, and none where the caller gave none.
template <class F>
auto with_policies(const F& f) {
  return f(mask::None{}, score::None{});
}
template <class F, class Mask>
auto with_policies(const F& f, const Mask& mask) {
  return f(mask, score::None{});
}
template <class F, class Mask, class Score>
auto with_policies(const F& f, const Mask& mask, const Score& score) {
  return f(mask, score);
}

/// True for what may follow the options of a call: nothing, a mask, or a mask and a score.
template <class Scalar, class... Policies>
inline constexpr bool are_policies = sizeof...(Policies) == 0;
template <class Scalar, MaskPolicy Mask>
inline constexpr bool are_policies<Scalar, Mask> = true;
template <class Scalar, MaskPolicy Mask, ComputableScore<Scalar> Score>
inline constexpr bool are_policies<Scalar, Mask, Score> = true;

}  // namespace interop

/// What may follow the options of a call: nothing, a mask, or a mask and a score.
template <class Scalar, class... Policies>
concept PoliciesOf = interop::are_policies<Scalar, Policies...>;

namespace interop {

template <class Q, class K, class V, class Mask, class Score, class Scalar>
Matrix<Scalar> attend_into(const Q& query, const K& key, const V& value, const AttendOptions& options,
                           const Mask& mask, const Score& score, const TokensView<Scalar>& out) {
  const TokensView<const Scalar> q = query.read_only();
  return attend_views(q, key.read_only(), value.read_only(), options, mask, score,
                      [&](const kernel::Problem<Scalar>& problem) {
                        check_output({"attend"}, "out", out.read_only(), q, problem);
                        return out;
                      });
}

}  // namespace interop

/// Attention from views into a view: it allocates no output. Returns the log-sum-exp, [batch * q_len, heads].
///
///     out = softmax(score(scale * query key^T), where mask allows) value          for each sequence of the
///     batch
///
/// query [batch, q_len, heads, head_dim], key [batch, k_len, kv_heads, head_dim], value [batch, k_len,
/// kv_heads, value_dim], out [batch, q_len, heads, value_dim], each with strides of its own. Where shapes
/// name heads, the options need not. out must not overlap an input. Policies, cost and errors as `attend`;
/// throws ShapeError, too, when batches, heads and widths of the views do not fit each other.
template <Tokens Q, Tokens K, Tokens V, MaskPolicy Mask, ComputableScore<scalar_of<Q>> Score,
          WritableTokens<scalar_of<Q>> Out>
requires SameScalar<Q, K, V> Matrix<scalar_of<Q>> attend_into(const Q& query, const K& key, const V& value,
                                                              const AttendOptions& options, const Mask& mask,
                                                              const Score& score, const Out& out) {
  return interop::attend_into(query, key, value, options, mask, score, TokensView<scalar_of<Q>>(out));
}

template <Tokens Q, Tokens K, Tokens V, MaskPolicy Mask, WritableTokens<scalar_of<Q>> Out>
requires SameScalar<Q, K, V> Matrix<scalar_of<Q>> attend_into(const Q& query, const K& key, const V& value,
                                                              const AttendOptions& options, const Mask& mask,
                                                              const Out& out) {
  return headwise::attend_into(query, key, value, options, mask, score::None{}, out);
}

template <Tokens Q, Tokens K, Tokens V, WritableTokens<scalar_of<Q>> Out>
requires SameScalar<Q, K, V> Matrix<scalar_of<Q>> attend_into(const Q& query, const K& key, const V& value,
                                                              const AttendOptions& options, const Out& out) {
  return headwise::attend_into(query, key, value, options, mask::None{}, score::None{}, out);
}

template <Tokens Q, Tokens K, Tokens V, MaskPolicy Mask, ComputableScore<scalar_of<Q>> Score,
          WritableTokens<scalar_of<Q>> Out>
requires SameScalar<Q, K, V> Matrix<scalar_of<Q>> attend_into(const Q& query, const K& key, const V& value,
                                                              const Mask& mask, const Score& score,
                                                              const Out& out) {
  return headwise::attend_into(query, key, value, AttendOptions{}, mask, score, out);
}

template <Tokens Q, Tokens K, Tokens V, MaskPolicy Mask, WritableTokens<scalar_of<Q>> Out>
requires SameScalar<Q, K, V> Matrix<scalar_of<Q>> attend_into(const Q& query, const K& key, const V& value,
                                                              const Mask& mask, const Out& out) {
  return headwise::attend_into(query, key, value, AttendOptions{}, mask, score::None{}, out);
}

template <Tokens Q, Tokens K, Tokens V, WritableTokens<scalar_of<Q>> Out>
requires SameScalar<Q, K, V> Matrix<scalar_of<Q>> attend_into(const Q& query, const K& key, const V& value,
                                                              const Out& out) {
  return headwise::attend_into(query, key, value, AttendOptions{}, mask::None{}, score::None{}, out);
}

namespace interop {

/// The strides of the tokens as one matrix [batch * tokens, features], whether or not they lie so.
template <class Element>
Index stacked_row_stride(const TokensView<Element>& x) {
  return x.tokens > 1 ? x.row_stride : x.batch_stride;
}
template <class Element>
Index flat_column_stride(const TokensView<Element>& x) {
  return x.heads > 1 && x.head_dim == 1 ? x.head_stride : x.column_stride;
}
template <class Element>
bool rows_are_stacked(const TokensView<Element>& x) {
  return x.batch <= 1 || x.tokens <= 1 || x.batch_stride == x.tokens * x.row_stride;
}
template <class Element>
bool columns_are_flat(const TokensView<Element>& x) {
  return x.heads <= 1 || x.head_dim <= 1 || x.head_stride == x.head_dim * x.column_stride;
}

}  // namespace interop

/// The tokens as the matrix [batch * tokens, features] that layers read, without a copy.
/// Throws ShapeError when rows or columns do not follow each other at one stride.
template <Tokens T>
auto matrix_view(const T& x) {
  using Plain = std::conditional_t<std::is_const_v<typename T::Element>, const Matrix<scalar_of<T>>,
                                   Matrix<scalar_of<T>>>;
  using Stride = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  if (!interop::rows_are_stacked(x)) {
    expect_equal("matrix_view: batch_stride", x.batch_stride, x.tokens * x.row_stride,
                 "that is tokens * row_stride; copy with to_matrix");
  }
  if (!interop::columns_are_flat(x)) {
    expect_equal("matrix_view: head_stride", x.head_stride, x.head_dim * x.column_stride,
                 "that is head_dim * column_stride; copy with to_matrix");
  }
  return Eigen::Map<Plain, Eigen::Unaligned, Stride>(
      x.data, x.batch * x.tokens, x.features(),
      Stride(interop::stacked_row_stride(x), interop::flat_column_stride(x)));
}

/// The tokens copied to a matrix [batch * tokens, features]: whatever their strides.
template <Tokens T>
Matrix<scalar_of<T>> to_matrix(const T& x) {
  Matrix<scalar_of<T>> rows(x.batch * x.tokens, x.features());
  for (Index b = 0; b < x.batch; ++b)
    for (Index t = 0; t < x.tokens; ++t)
      for (Index j = 0; j < x.features(); ++j)
        rows(b * x.tokens + t, j) = x(b, t, j / x.head_dim, j % x.head_dim);
  return rows;
}

/// Writes a matrix [batch * tokens, features] where the tokens are: what becomes of a layer's output.
/// Throws ShapeError when the shapes differ.
template <RealMatrix M, WritableTokens<scalar_of<M>> T>
void write_matrix(const M& rows, const T& out) {
  expect_equal("write_matrix: rows", rows.rows(), out.batch * out.tokens, "batch * tokens of them");
  expect_equal("write_matrix: columns", rows.cols(), out.features(), "one a feature");
  const auto& x = kernel::in_place(rows);
  for (Index b = 0; b < out.batch; ++b)
    for (Index t = 0; t < out.tokens; ++t)
      for (Index j = 0; j < out.features(); ++j)
        out(b, t, j / out.head_dim, j % out.head_dim) = x(b * out.tokens + t, j);
}

}  // namespace headwise
