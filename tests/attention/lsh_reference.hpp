#pragma once

#include <headwise/attention/lsh_chunks.hpp>

#include "support/reference.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

/// LSH attention as the paper and its programs say it: gathered lists, pair by pair, through no line of the
/// library but the names of its options.
namespace reference {

/// One head of one sequence.
struct Lsh {
  headwise::LshOptions options;
  std::vector<std::vector<int>> buckets;   ///< [round][row]
  std::function<bool(Index, Index)> rest;  ///< none: all pairs
  double scale = 1;
};

/// How often each query is given each key, over all rounds, by walking through the gathered lists.
inline Eigen::MatrixXi occurrences(const Lsh& lsh, Index length) {
  const Index rounds = Index(lsh.buckets.size()), size = lsh.options.chunk_len;
  const Index chunks = (length + size - 1) / size;
  std::vector<std::vector<Index>> sorted;  // [round * chunks + chunk][rank]
  for (const auto& bucket : lsh.buckets) {
    std::vector<Index> order;
    for (int number = 0; Index(order.size()) < length; ++number)
      for (Index row = 0; row < length; ++row)
        if (bucket[std::size_t(row)] == number) order.push_back(row);
    for (Index c = 0; c < chunks; ++c)
      sorted.emplace_back(order.begin() + c * size, order.begin() + std::min(length, (c + 1) * size));
  }
  Eigen::MatrixXi count = Eigen::MatrixXi::Zero(length, length);
  for (Index round = 0; round < rounds; ++round) {
    for (Index c = 0; c < chunks; ++c) {
      for (Index step = -lsh.options.chunks_before; step <= lsh.options.chunks_after; ++step) {
        Index at = c + step, in = round;
        if (lsh.options.wrap == headwise::LshWrap::none && (at < 0 || at >= chunks)) continue;
        if (lsh.options.wrap == headwise::LshWrap::global) {
          const Index all = rounds * chunks;
          in = ((round * chunks + at) % all + all) % all / chunks;
        }
        at = (at % chunks + chunks) % chunks;
        for (const Index i : sorted[std::size_t(round * chunks + c)]) {
          for (const Index j : sorted[std::size_t(in * chunks + at)]) {
            const bool mates = in == round && lsh.buckets[std::size_t(round)][std::size_t(i)] ==
                                                  lsh.buckets[std::size_t(round)][std::size_t(j)];
            if (lsh.options.reach == headwise::LshReach::bucket && !mates) continue;
            if (i != j && (!lsh.rest || lsh.rest(i, j))) ++count(i, j);
          }
        }
      }
    }
  }
  if (lsh.options.repeats == headwise::LshRepeats::once) count = count.cwiseMin(1);
  return count;
}

/// The same as one softmax of all pairs: a key that occurs n times has log n added to its score.
inline Problem problem_of(const Lsh& lsh, Index length) {
  const Eigen::MatrixXi count = occurrences(lsh, length);
  Problem problem;
  problem.scale = lsh.scale;
  problem.allows = [=](Index i, Index j) { return count(i, j) > 0 || (i == j && count.row(i).sum() == 0); };
  problem.score = [=](double s, Index i, Index j) {
    return i == j ? -1e5 : s + std::log(double(count(i, j)));
  };
  problem.score_derivative = [](double, Index i, Index j) { return i == j ? 0.0 : 1.0; };
  return problem;
}

inline Matrix unit_rows(const Matrix& x, double epsilon = 0) {
  Matrix y = x;
  for (Index i = 0; i < x.rows(); ++i) {
    double square = 0;
    for (Index c = 0; c < x.cols(); ++c) square += x(i, c) * x(i, c);
    const double norm = std::sqrt(square + epsilon * double(x.cols()));
    for (Index c = 0; c < x.cols(); ++c) y(i, c) = norm > 0 ? x(i, c) / norm : 0.0;
  }
  return y;
}

inline Result lsh_attention(const Matrix& query, const Matrix& value, const Lsh& lsh) {
  return forward(query, unit_rows(query, lsh.options.epsilon), value, problem_of(lsh, query.rows()));
}

/// Gradients of query (as query and key) and value.
inline Gradients lsh_backward(const Matrix& query, const Matrix& value, const Matrix& d, const Lsh& lsh) {
  const double epsilon = lsh.options.epsilon;
  Gradients g = backward(query, unit_rows(query, epsilon), value, d, problem_of(lsh, query.rows()));
  for (Index i = 0; i < query.rows(); ++i) {
    double square = epsilon * double(query.cols()), dot = 0;
    for (Index c = 0; c < query.cols(); ++c) {
      square += query(i, c) * query(i, c);
      dot += query(i, c) * g.key(i, c);
    }
    if (square == 0) continue;
    for (Index c = 0; c < query.cols(); ++c)
      g.query(i, c) += (g.key(i, c) - query(i, c) * dot / square) / std::sqrt(square);
  }
  return g;
}

}  // namespace reference
