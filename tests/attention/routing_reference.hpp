#pragma once

#include "support/reference.hpp"

#include <algorithm>
#include <functional>
#include <vector>

/// Routing attention of one head of one sequence, cluster by cluster, in plain loops.
namespace reference {

struct Routing {
  std::vector<std::vector<Index>> queries, keys;  ///< [cluster]: rows
  std::function<bool(Index, Index)> allows;
  double scale = 0;
  bool self_if_alone = false;
};

/// The `window` rows with the largest dot products, best first, for each centroid.
inline std::vector<std::vector<Index>> nearest_rows(const Matrix& x, const Matrix& centroids, Index window) {
  std::vector<std::vector<Index>> result;
  for (Index c = 0; c < centroids.rows(); ++c) {
    std::vector<std::pair<double, Index>> order;
    for (Index i = 0; i < x.rows(); ++i) {
      double dot = 0;
      for (Index k = 0; k < x.cols(); ++k) dot += x(i, k) * centroids(c, k);
      order.emplace_back(-dot, i);
    }
    std::sort(order.begin(), order.end());
    result.emplace_back();
    for (Index i = 0; i < std::min(window, x.rows()); ++i)
      result.back().push_back(order[std::size_t(i)].second);
  }
  return result;
}

/// What one cluster computes, over all rows: those outside see nothing.
inline Problem problem_of(const Routing& routing, std::size_t cluster, Index length) {
  Eigen::MatrixXi listed = Eigen::MatrixXi::Zero(length, length);
  for (const Index i : routing.queries[cluster])
    for (const Index j : routing.keys[cluster])
      if (routing.allows(i, j)) listed(i, j) = 1;
  Eigen::MatrixXi seen = listed;
  if (routing.self_if_alone)
    for (const Index i : routing.queries[cluster])
      seen(i, i) = std::count(routing.keys[cluster].begin(), routing.keys[cluster].end(), i) > 0 &&
                   listed.row(i).sum() - listed(i, i) == 0;
  Problem problem;
  problem.scale = routing.scale;
  problem.allows = [seen](Index i, Index j) { return seen(i, j) > 0; };
  if (routing.self_if_alone) {
    problem.score = [](double s, Index i, Index j) { return i == j ? -5e4 : s; };
    problem.score_derivative = [](double, Index i, Index j) { return i == j ? 0.0 : 1.0; };
  }
  return problem;
}

/// In how many clusters each query sees something.
inline std::vector<double> routed_counts(const Routing& routing, Index length) {
  std::vector<double> counts(std::size_t(length), 0.0);
  for (std::size_t c = 0; c < routing.queries.size(); ++c) {
    const Problem problem = problem_of(routing, c, length);
    for (Index i = 0; i < length; ++i) {
      bool sees = false;
      for (Index j = 0; j < length; ++j) sees = sees || problem.allows(i, j);
      counts[std::size_t(i)] += sees ? 1 : 0;
    }
  }
  return counts;
}

inline Matrix routed(const Matrix& query, const Matrix& key, const Matrix& value, const Routing& routing) {
  Matrix sum = Matrix::Zero(query.rows(), value.cols());
  const auto counts = routed_counts(routing, query.rows());
  for (std::size_t c = 0; c < routing.queries.size(); ++c) {
    const Matrix part = attention(query, key, value, problem_of(routing, c, query.rows()));
    for (Index i = 0; i < query.rows(); ++i)
      for (Index x = 0; x < value.cols() && counts[std::size_t(i)] > 0; ++x)
        sum(i, x) += part(i, x) / counts[std::size_t(i)];
  }
  return sum;
}

inline Gradients routed_backward(const Matrix& query, const Matrix& key, const Matrix& value, const Matrix& d,
                                 const Routing& routing) {
  Gradients sum;
  sum.query = Matrix::Zero(query.rows(), query.cols());
  sum.key = Matrix::Zero(key.rows(), key.cols());
  sum.value = Matrix::Zero(value.rows(), value.cols());
  const auto counts = routed_counts(routing, query.rows());
  Matrix share = d;
  for (Index i = 0; i < d.rows(); ++i)
    for (Index x = 0; x < d.cols(); ++x)
      share(i, x) = counts[std::size_t(i)] > 0 ? d(i, x) / counts[std::size_t(i)] : 0.0;
  for (std::size_t c = 0; c < routing.queries.size(); ++c) {
    const Gradients part = backward(query, key, value, share, problem_of(routing, c, query.rows()));
    sum.query += part.query;
    sum.key += part.key;
    sum.value += part.value;
  }
  return sum;
}

}  // namespace reference
