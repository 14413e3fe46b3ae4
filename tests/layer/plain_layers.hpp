#pragma once

#include <headwise/core/matrix.hpp>

#include "support/reference.hpp"

#include <cmath>
#include <functional>
#include <map>
#include <string>

/// Layers by plain loops over their parameters' numbers, through no line of the library.
namespace headwise::plain {

using Numbers = std::map<std::string, Matrix<double>>;

inline Matrix<double> each(const Matrix<double>& x, const std::function<double(double)>& f) {
  Matrix<double> y(x.rows(), x.cols());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) y(i, j) = f(x(i, j));
  return y;
}

inline double relu(double x) { return x > 0 ? x : 0; }
inline double silu(double x) { return x / (1 + std::exp(-x)); }
inline double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
inline double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

/// x W^T [+ b] with name.weight and name.bias.
inline Matrix<double> linear(const Matrix<double>& x, const Numbers& p, const std::string& name) {
  Matrix<double> y = reference::product(x, p.at(name + ".weight").transpose());
  if (!p.contains(name + ".bias")) return y;
  for (Index i = 0; i < y.rows(); ++i)
    for (Index j = 0; j < y.cols(); ++j) y(i, j) += p.at(name + ".bias")(0, j);
  return y;
}

/// LayerNorm with name.weight and name.bias, or RMSNorm when there is no name.bias.
inline Matrix<double> norm(const Matrix<double>& x, const Numbers& p, const std::string& name, double eps) {
  const Matrix<double>& gain = p.at(name + ".weight");
  const bool layer = p.contains(name + ".bias");
  Matrix<double> y(x.rows(), x.cols());
  for (Index i = 0; i < x.rows(); ++i) {
    double mean = 0, square = 0;
    for (Index j = 0; layer && j < x.cols(); ++j) mean += x(i, j) / double(x.cols());
    for (Index j = 0; j < x.cols(); ++j) square += (x(i, j) - mean) * (x(i, j) - mean) / double(x.cols());
    for (Index j = 0; j < x.cols(); ++j) {
      y(i, j) = gain(0, j) * (x(i, j) - mean) / std::sqrt(square + eps);
      if (layer) y(i, j) += p.at(name + ".bias")(0, j);
    }
  }
  return y;
}

/// Multi-head attention with name.query, name.key, name.value and name.output; all heads of one size.
inline Matrix<double> attention(const Matrix<double>& x, const Matrix<double>& source, const Numbers& p,
                                const std::string& name, Index heads,
                                const reference::Problem& problem = {}) {
  const Matrix<double> q = linear(x, p, name + ".query"), k = linear(source, p, name + ".key"),
                       v = linear(source, p, name + ".value");
  const Index size = q.cols() / heads;
  Matrix<double> seen(x.rows(), q.cols());
  for (Index h = 0; h < heads; ++h) {
    seen.middleCols(h * size, size) = reference::attention(
        q.middleCols(h * size, size), k.middleCols(h * size, size), v.middleCols(h * size, size), problem);
  }
  return linear(seen, p, name + ".output");
}

/// name.up, perhaps name.gate, name.down.
inline Matrix<double> feed_forward(const Matrix<double>& x, const Numbers& p, const std::string& name,
                                   const std::function<double(double)>& activation) {
  const Matrix<double> up = linear(x, p, name + ".up");
  if (!p.contains(name + ".gate.weight")) return linear(each(up, activation), p, name + ".down");
  return linear(each(linear(x, p, name + ".gate"), activation).cwiseProduct(up), p, name + ".down");
}

inline reference::Problem causal() {
  reference::Problem problem;
  problem.allows = [](Index q, Index k) { return k <= q; };
  return problem;
}

}  // namespace headwise::plain
