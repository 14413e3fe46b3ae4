#pragma once

#include <headwise/attention/first_largest.hpp>
#include <headwise/attention/head_norm.hpp>
#include <headwise/core/error.hpp>
#include <headwise/core/lanes.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/core/product.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// Online spherical k-means over tokens: centroids are values, state in and state out. They hold one row a
/// cluster and a head is a column block, [clusters, heads * head_dim], as in the tokens they are compared to.
namespace headwise {

/// The cluster of every token: [head][row].
struct NearestCentroids {
  Index rows = 0, heads = 1;
  std::vector<std::int32_t> numbers;

  std::span<const std::int32_t> of(Index head) const {
    return std::span(numbers).subspan(std::size_t(head * rows), std::size_t(rows));
  }
};

namespace attention {

template <class X>
void check_centroids(const char* what, const X& x, const Matrix<scalar_of<X>>& centroids, Index heads) {
  expect_positive(std::string(what) + ": heads", heads);
  expect_multiple(std::string(what) + ": columns of x", x.cols(), heads, "heads");
  expect_positive(std::string(what) + ": clusters", centroids.rows(), "one row of centroids a cluster");
  expect_equal(std::string(what) + ": columns of centroids", centroids.cols(), x.cols(), "the width of x");
}

/// centroid . x for some clusters, a row each, and all tokens of one head.   -> [clusters, n]
template <class X>
Matrix<scalar_of<X>> similarities(const X& x, const Matrix<scalar_of<X>>& centroids, Index heads, Index head,
                                  Range clusters) {
  const Index dim = x.cols() / heads;
  return multiply_transposed(centroids.block(clusters.begin, head * dim, clusters.size(), dim),
                             x.middleCols(head * dim, dim));
}

/// The larger real part, the first one of equals: what lanes fold rows of similarities with.
struct Larger {
  template <class Scalar>
  Scalar operator()(const Scalar& a, const Scalar& b) const noexcept {
    return math::real(b) > math::real(a) ? b : a;
  }
};

}  // namespace attention

/// The cluster whose centroid has the largest dot product with a token; the first one of equals.
///
/// For tokens and centroids of one length that is the nearest centroid. x [n, heads * head_dim]. Throws
/// ShapeError when the shapes do not fit. Cost: 2 n clusters head_dim FLOPs a head.
template <RealMatrix X>
NearestCentroids nearest_centroids(const X& x, const Matrix<scalar_of<X>>& centroids, Index heads = 1) {
  attention::check_centroids("nearest_centroids", x, centroids, heads);
  NearestCentroids nearest{x.rows(), heads, {}};
  nearest.numbers.resize(std::size_t(x.rows() * heads));
  for (Index head = 0; head < heads; ++head)
    attention::for_each_first_largest<scalar_of<X>>(
        attention::similarities(x, centroids, heads, head, {0, centroids.rows()}),
        [&](Index row, Index c) { nearest.numbers[std::size_t(head * x.rows() + row)] = std::int32_t(c); });
  return nearest;
}

namespace attention {

/// The number and the sum of each cluster's tokens: [clusters, heads] and [clusters, heads * head_dim].
template <class X>
std::pair<Matrix<scalar_of<X>>, Matrix<scalar_of<X>>> cluster_sums(const X& x, Index clusters,
                                                                   const NearestCentroids& nearest) {
  using Scalar = scalar_of<X>;
  expect_equal("k_means: rows of nearest", nearest.rows, x.rows(), "what nearest_centroids(x) returned");
  const Index dim = x.cols() / nearest.heads;
  std::pair<Matrix<Scalar>, Matrix<Scalar>> result{Matrix<Scalar>::Zero(clusters, nearest.heads),
                                                   Matrix<Scalar>::Zero(clusters, x.cols())};
  for (Index head = 0; head < nearest.heads; ++head) {
    for (Index row = 0; row < x.rows(); ++row) {
      const Index c = nearest.of(head)[std::size_t(row)];
      result.first(c, head) += Scalar(1);
      result.second.row(c).segment(head * dim, dim) += x.row(row).segment(head * dim, dim);
    }
  }
  return result;
}

}  // namespace attention

/// One iteration of spherical k-means: every centroid becomes the direction of the sum of its tokens; a
/// cluster without tokens keeps its own.
///
/// x [n, heads * head_dim], of unit length a head; nearest: nearest_centroids(x, centroids, heads).
/// Throws ShapeError when the shapes do not fit. Cost: O(n heads head_dim).
template <RealMatrix X>
Matrix<scalar_of<X>> k_means_step(const X& x, const Matrix<scalar_of<X>>& centroids,
                                  const NearestCentroids& nearest) {
  attention::check_centroids("k_means_step", x, centroids, nearest.heads);
  const auto [counts, sums] = attention::cluster_sums(x, centroids.rows(), nearest);
  Matrix<scalar_of<X>> next = unit_heads(sums, nearest.heads);
  const Index dim = x.cols() / nearest.heads;
  for (Index c = 0; c < next.rows(); ++c)
    for (Index head = 0; head < nearest.heads; ++head)
      if (counts(c, head) == scalar_of<X>(0))
        next.row(c).segment(head * dim, dim) = centroids.row(c).segment(head * dim, dim);
  return next;
}

/// The exponential moving average of centroids, decay old + (1 - decay) now. Throws ShapeError for a decay
/// outside [0, 1], or when the shapes differ.
template <class Scalar>
Matrix<Scalar> averaged_centroids(const Matrix<Scalar>& old, const Matrix<Scalar>& now, double decay) {
  if (!(decay >= 0 && decay <= 1))
    fail_shape("averaged_centroids: decay", std::to_string(decay), "between 0 and 1");
  expect_equal("averaged_centroids: rows", now.rows(), old.rows());
  expect_equal("averaged_centroids: columns", now.cols(), old.cols());
  using Real = math::real_of<Scalar>;
  return Scalar(Real(decay)) * old + Scalar(Real(1 - decay)) * now;
}

/// Averages of what the clusters of the Routing Transformer hold: their tokens' number and sum.
///
///     n <- decay n + (1 - decay) number,   m <- decay m + (1 - decay) sum,
///     centroid = m / ((n + epsilon) / (N + clusters epsilon) N),   N = sum of n
///
/// Begins with n = 0 and m = centroids, as the official program does. A value: state in, state out.
/// Paper: Roy et al., "Efficient Content-Based Sparse Attention with Routing Transformers", 2020,
/// section 4.1.
template <class Scalar>
struct CentroidAverages {
  Matrix<Scalar> counts;  ///< [clusters, heads]
  Matrix<Scalar> sums;    ///< [clusters, heads * head_dim]

  static CentroidAverages of(const Matrix<Scalar>& centroids, Index heads) {
    expect_positive("CentroidAverages: heads", heads);
    return {Matrix<Scalar>::Zero(centroids.rows(), heads), centroids};
  }

  /// The averages after the tokens x. Queries and keys, where they differ, are stacked row under row.
  template <RealMatrix X>
  CentroidAverages after(const X& x, const NearestCentroids& nearest, double decay = 0.999) const {
    attention::check_centroids("CentroidAverages", x, sums, nearest.heads);
    const auto [number, sum] = attention::cluster_sums(x, sums.rows(), nearest);
    return {averaged_centroids(counts, number, decay), averaged_centroids(sums, sum, decay)};
  }

  Matrix<Scalar> centroids(double epsilon = 1e-5) const {
    using Real = math::real_of<Scalar>;
    Matrix<Scalar> result = sums;
    const Index heads = counts.cols(), dim = heads > 0 ? sums.cols() / heads : 0;
    for (Index head = 0; head < heads; ++head) {
      Scalar all(0);
      for (Index c = 0; c < counts.rows(); ++c) all += counts(c, head);
      const Scalar e = Scalar(Real(epsilon)), total = all + Scalar(Real(counts.rows())) * e;
      for (Index c = 0; c < counts.rows() && all != Scalar(0); ++c)
        result.row(c).segment(head * dim, dim) /= (counts(c, head) + e) / total * all;
    }
    return result;
  }
};

/// A loss that draws tokens to their centroids, and its gradient. The centroids do not move.
template <class Scalar>
struct Commitment {
  Scalar loss;
  Matrix<Scalar> gradient;  ///< of x
};

/// weight times the mean over all numbers of (x - centroid)^2.   x [n, heads * head_dim]
///
/// Throws ShapeError when the shapes do not fit. Zero for no tokens. Cost: O(n heads head_dim).
template <RealMatrix X>
Commitment<scalar_of<X>> commitment(const X& x, const Matrix<scalar_of<X>>& centroids,
                                    const NearestCentroids& nearest, double weight = 1e-4) {
  using Scalar = scalar_of<X>;
  using Real = math::real_of<Scalar>;
  attention::check_centroids("commitment", x, centroids, nearest.heads);
  expect_equal("commitment: rows of nearest", nearest.rows, x.rows(), "what nearest_centroids(x) returned");
  const Index dim = x.cols() / nearest.heads;
  Commitment<Scalar> result{Scalar(0), x};
  if (x.size() == 0) return result;
  const Scalar share = Scalar(Real(weight)) / Scalar(Real(x.size()));
  for (Index row = 0; row < x.rows(); ++row) {
    for (Index head = 0; head < nearest.heads; ++head) {
      const Index c = nearest.of(head)[std::size_t(row)];
      for (Index at = head * dim; at < (head + 1) * dim; ++at) {
        const Scalar apart = result.gradient(row, at) - centroids(c, at);
        result.loss += share * apart * apart;
        result.gradient(row, at) = Scalar(2) * share * apart;
      }
    }
  }
  return result;
}

}  // namespace headwise
