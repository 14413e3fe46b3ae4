#pragma once

#include "support/reference.hpp"

#include <functional>

/// Attention of many heads, one reference problem at a time.
namespace reference {

/// The columns of one head of a packed matrix.
inline Matrix head(const Matrix& packed, Index heads, Index h) {
  const Index size = packed.cols() / heads;
  return packed.middleCols(h * size, size);
}

/// problem(head) says what each query head does.
inline Matrix attention(const Matrix& query, const Matrix& key, const Matrix& value, Index heads,
                        Index kv_heads, const std::function<Problem(Index)>& problem = {}) {
  const Index value_dim = value.cols() / kv_heads;
  Matrix out(query.rows(), heads * value_dim);
  for (Index h = 0; h < heads; ++h) {
    const Index kv = h / (heads / kv_heads);
    out.middleCols(h * value_dim, value_dim) =
        attention(head(query, heads, h), head(key, kv_heads, kv), head(value, kv_heads, kv),
                  problem ? problem(h) : Problem{});
  }
  return out;
}

/// The gradients of all heads; those of grouped keys and values are summed.
inline Gradients backward(const Matrix& query, const Matrix& key, const Matrix& value, const Matrix& d_output,
                          Index heads, Index kv_heads, const std::function<Problem(Index)>& problem = {}) {
  const Index dim = query.cols() / heads, value_dim = value.cols() / kv_heads;
  Gradients sum;
  sum.query = Matrix::Zero(query.rows(), query.cols());
  sum.key = Matrix::Zero(key.rows(), key.cols());
  sum.value = Matrix::Zero(value.rows(), value.cols());
  for (Index h = 0; h < heads; ++h) {
    const Index kv = h / (heads / kv_heads);
    const Gradients g = backward(head(query, heads, h), head(key, kv_heads, kv), head(value, kv_heads, kv),
                                 head(d_output, heads, h), problem ? problem(h) : Problem{});
    sum.query.middleCols(h * dim, dim) = g.query;
    sum.key.middleCols(kv * dim, dim) += g.key;
    sum.value.middleCols(kv * value_dim, value_dim) += g.value;
  }
  return sum;
}

}  // namespace reference
