#pragma once

#include <Eigen/Core>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

/// Attention as the formula says it, in plain loops over whole matrices, through no line of the library.
namespace reference {

using Index = Eigen::Index;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c = Matrix::Zero(a.rows(), b.cols());
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < b.cols(); ++j)
      for (Index k = 0; k < a.cols(); ++k) c(i, j) += a(i, k) * b(k, j);
  return c;
}

/// One head. Everything that a policy could do is a function of the pair (query row, key row).
struct Problem {
  double scale = 0;                                              ///< 0: 1 / sqrt(head_dim)
  std::function<bool(Index, Index)> allows;                      ///< none: all pairs
  std::function<double(double, Index, Index)> score;             ///< none: unchanged
  std::function<double(double, Index, Index)> score_derivative;  ///< of `score` in its first argument
  std::function<double(Index, Index)> keep;                      ///< dropout factor: 0 or 1 / (1 - rate)
  double sink = -std::numeric_limits<double>::infinity();        ///< logit without a value
};

struct Result {
  Matrix output, weights, logits;
  std::vector<double> lse;
  double sink_weight(Index i, const Problem& p) const {
    return std::isinf(p.sink) ? 0.0 : std::exp(p.sink - lse[std::size_t(i)]);
  }
};

inline Result forward(const Matrix& query, const Matrix& key, const Matrix& value, const Problem& p = {}) {
  const double inf = std::numeric_limits<double>::infinity();
  const double scale = p.scale != 0 ? p.scale : 1.0 / std::sqrt(double(query.cols()));
  Result r;
  r.output = Matrix::Zero(query.rows(), value.cols());
  r.weights = Matrix::Zero(query.rows(), key.rows());
  r.logits = Matrix::Constant(query.rows(), key.rows(), -inf);
  r.lse.assign(std::size_t(query.rows()), -inf);
  for (Index i = 0; i < query.rows(); ++i) {
    double largest = p.sink;
    for (Index j = 0; j < key.rows(); ++j) {
      if (p.allows && !p.allows(i, j)) continue;
      double dot = 0;
      for (Index c = 0; c < query.cols(); ++c) dot += query(i, c) * key(j, c);
      double s = scale * dot;
      if (p.score) s = p.score(s, i, j);
      r.logits(i, j) = s;
      largest = std::max(largest, s);
    }
    if (largest == -inf) continue;
    double sum = std::isinf(p.sink) ? 0.0 : std::exp(p.sink - largest);
    for (Index j = 0; j < key.rows(); ++j)
      if (r.logits(i, j) != -inf) sum += std::exp(r.logits(i, j) - largest);
    r.lse[std::size_t(i)] = largest + std::log(sum);
    for (Index j = 0; j < key.rows(); ++j) {
      if (r.logits(i, j) == -inf) continue;
      r.weights(i, j) = std::exp(r.logits(i, j) - r.lse[std::size_t(i)]);
      const double kept = r.weights(i, j) * (p.keep ? p.keep(i, j) : 1.0);
      for (Index c = 0; c < value.cols(); ++c) r.output(i, c) += kept * value(j, c);
    }
  }
  return r;
}

inline Matrix attention(const Matrix& query, const Matrix& key, const Matrix& value, const Problem& p = {}) {
  return forward(query, key, value, p).output;
}

struct Gradients {
  Matrix query, key, value;
  Matrix logits;  ///< with respect to the score after the score policies
  double sink = 0;
};

/// The adjoint of `forward` for sum(output * d_output) + sum(lse * d_lse), by the definition of the softmax.
inline Gradients backward(const Matrix& query, const Matrix& key, const Matrix& value, const Matrix& d_output,
                          const Problem& p = {}, const std::vector<double>& d_lse = {}) {
  const double scale = p.scale != 0 ? p.scale : 1.0 / std::sqrt(double(query.cols()));
  const Result r = forward(query, key, value, p);
  Gradients g;
  g.query = Matrix::Zero(query.rows(), query.cols());
  g.key = Matrix::Zero(key.rows(), key.cols());
  g.value = Matrix::Zero(value.rows(), value.cols());
  g.logits = Matrix::Zero(query.rows(), key.rows());
  for (Index i = 0; i < query.rows(); ++i) {
    const double outer = d_lse.empty() ? 0.0 : d_lse[std::size_t(i)];
    std::vector<double> d_weight(std::size_t(key.rows()), 0.0);
    double mean = 0;
    for (Index j = 0; j < key.rows(); ++j) {
      if (r.weights(i, j) == 0) continue;
      const double kept = p.keep ? p.keep(i, j) : 1.0;
      for (Index c = 0; c < value.cols(); ++c) {
        d_weight[std::size_t(j)] += kept * d_output(i, c) * value(j, c);
        g.value(j, c) += kept * r.weights(i, j) * d_output(i, c);
      }
      mean += r.weights(i, j) * d_weight[std::size_t(j)];
    }
    for (Index j = 0; j < key.rows(); ++j) {
      if (r.weights(i, j) == 0) continue;
      const double d_logit = r.weights(i, j) * (d_weight[std::size_t(j)] - mean + outer);
      g.logits(i, j) = d_logit;
      double dot = 0;
      for (Index c = 0; c < query.cols(); ++c) dot += query(i, c) * key(j, c);
      const double d_dot =
          scale * d_logit * (p.score_derivative ? p.score_derivative(scale * dot, i, j) : 1.0);
      for (Index c = 0; c < query.cols(); ++c) {
        g.query(i, c) += d_dot * key(j, c);
        g.key(j, c) += d_dot * query(i, c);
      }
    }
    g.sink += r.sink_weight(i, p) * (outer - mean);
  }
  return g;
}

}  // namespace reference
