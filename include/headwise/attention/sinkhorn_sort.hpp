#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/core/ragged_rows.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace headwise {

/// What the balancing may know: all blocks, or for each block only those before it.
enum class SinkhornOrder { whole, causal };

/// What scores are: logits, or numbers of which only positive ones count.
enum class SinkhornScores {
  logits,   ///< r = (R + noise) / temperature
  positive  ///< r = (log(max(R, 0) + 1e-6) + noise) / temperature: the sinkhorn-transformer package
};

struct SinkhornOptions {
  Index iterations = 7;
  double temperature = 0.75;
  SinkhornOrder order = SinkhornOrder::whole;
  SinkhornScores scores = SinkhornScores::logits;
};

/// One matrix for each head of each sequence, sequence-major: scores or weights of its blocks.
template <class Scalar>
using BlockMatrices = std::vector<Matrix<Scalar>>;

namespace attention {

inline constexpr double positive_floor = 1e-6;

/// One entry of a matrix, its rows and columns exchanged or not: both steps of the balancing are one loop.
template <class M>
decltype(auto) at(M& m, bool rows, Index line, Index i) {
  return rows ? m(line, i) : m(i, line);
}

/// r -= log sum exp of its line, in place; a line of -inf stays. `rising`: the sum for entry i runs up to i.
template <class Scalar>
void normalise_lines(Matrix<Scalar>& r, bool rows, bool rising) {
  const Index lines = rows ? r.rows() : r.cols(), length = rows ? r.cols() : r.rows();
  for (Index line = 0; line < lines; ++line) {
    auto largest = -math::infinity<Scalar>;
    for (Index i = 0; i < length; ++i) largest = std::max(largest, math::real(at(r, rows, line, i)));
    if (largest == -math::infinity<Scalar>) continue;
    Scalar sum(0);
    if (!rising)
      for (Index i = 0; i < length; ++i) sum += math::exp(at(r, rows, line, i) - Scalar(largest));
    // The running sum has its own maximum: what comes later must not decide what underflows.
    auto so_far = -math::infinity<Scalar>;
    for (Index i = 0; i < length; ++i) {
      Scalar& x = at(r, rows, line, i);
      if (math::real(x) == -math::infinity<Scalar>) continue;
      if (!rising) {
        x -= Scalar(largest) + math::log(sum);
        continue;
      }
      const auto next = std::max(so_far, math::real(x));
      sum = (sum == Scalar(0) ? sum : sum * math::exp(Scalar(so_far - next))) + math::exp(x - Scalar(next));
      so_far = next;
      x -= Scalar(so_far) + math::log(sum);
    }
  }
}

/// d of the result of normalise_lines becomes that of its input. before: its input, after: its result.
template <class Scalar>
void normalise_lines_backward(const Matrix<Scalar>& before, const Matrix<Scalar>& after, Matrix<Scalar>& d,
                              bool rows, bool rising) {
  const Index lines = rows ? after.rows() : after.cols(), length = rows ? after.cols() : after.rows();
  for (Index line = 0; line < lines; ++line) {
    std::vector<Scalar> pulled(std::size_t(length), Scalar(0));
    for (Index i = 0; i < length; ++i) {
      const Scalar x = at(before, rows, line, i);
      if (math::real(x) == -math::infinity<Scalar>) continue;
      // Entry k subtracted log sum exp over those up to k, or over all.
      for (Index k = rising ? i : 0; k < length; ++k) {
        const Scalar own = at(before, rows, line, k);
        if (math::real(own) == -math::infinity<Scalar>) continue;
        const Scalar lse = own - at(after, rows, line, k);
        pulled[std::size_t(i)] += at(d, rows, line, k) * math::exp(x - lse);
      }
    }
    for (Index i = 0; i < length; ++i) at(d, rows, line, i) -= pulled[std::size_t(i)];
  }
}

/// Zero or more noise, of the scores' shape.
template <class Scalar>
void check_sinkhorn(const Matrix<Scalar>& scores, const SinkhornOptions& options,
                    const Matrix<Scalar>& noise) {
  expect_equal("sinkhorn: columns of scores", scores.cols(), scores.rows(), "one block by one block");
  expect_not_negative("sinkhorn: iterations", options.iterations);
  if (!(options.temperature > 0))
    fail_shape("sinkhorn: temperature", std::to_string(options.temperature), "a positive number");
  if (noise.size() == 0) return;
  expect_equal("sinkhorn: rows of noise", noise.rows(), scores.rows(), "the shape of scores, or empty");
  expect_equal("sinkhorn: columns of noise", noise.cols(), scores.cols(), "the shape of scores, or empty");
}

template <class Scalar>
Matrix<Scalar> sinkhorn_logits(const Matrix<Scalar>& scores, const SinkhornOptions& options,
                               const Matrix<Scalar>& noise) {
  using Real = math::real_of<Scalar>;
  Matrix<Scalar> r = scores;
  for (Index i = 0; i < r.rows(); ++i) {
    for (Index j = 0; j < r.cols(); ++j) {
      Scalar& x = r(i, j);
      if (options.scores == SinkhornScores::positive)
        x = math::log((math::real(x) > 0 ? x : Scalar(0)) + Scalar(Real(positive_floor)));
      if (noise.size() > 0) x += noise(i, j);
      x /= Scalar(Real(options.temperature));
      if (options.order == SinkhornOrder::causal && j >= i) x = Scalar(-math::infinity<Scalar>);
    }
  }
  return r;
}

}  // namespace attention

/// Sinkhorn balancing: weights by which blocks are sorted, nearly doubly stochastic.
///
///     r = (R + noise) / temperature;   iterations times:  r -= lse of its row,  r -= lse of its column
///     S = exp(r)
///
/// scores R, noise [blocks, blocks] (Gumbel noise, or none) -> S [blocks, blocks]: row B says of what block
/// B's sorted block is made. Columns end with sum 1, rows nearly. All in logarithms, so that scores of any
/// size are safe. With SinkhornOrder::causal, S(B, C) is zero unless C < B, and a column's sum for row B runs
/// over the rows up to B only: nothing depends on later blocks. A row without entries stays zero. Throws
/// ShapeError when scores are not square, or an option is out of range. Cost: O(iterations blocks^2). Papers:
/// Tay et al., "Sparse Sinkhorn Attention", 2020, section 3.1; Mena et al., "Learning Latent Permutations
/// with Gumbel-Sinkhorn Networks", 2018.
template <class Scalar>
Matrix<Scalar> sinkhorn(const Matrix<Scalar>& scores, const SinkhornOptions& options = {},
                        const Matrix<Scalar>& noise = {}) {
  attention::check_sinkhorn(scores, options, noise);
  Matrix<Scalar> r = attention::sinkhorn_logits(scores, options, noise);
  for (Index i = 0; i < options.iterations; ++i) {
    attention::normalise_lines(r, true, false);
    attention::normalise_lines(r, false, options.order == SinkhornOrder::causal);
  }
  for (Index i = 0; i < r.size(); ++i) r.data()[i] = math::exp(r.data()[i]);
  return r;
}

/// The gradient of the scores, given that of sinkhorn(scores). Steps are computed again and kept meanwhile.
/// Cost: O(iterations blocks^2), causal O(iterations blocks^3).
template <class Scalar>
Matrix<Scalar> sinkhorn_backward(const Matrix<Scalar>& scores, const Matrix<Scalar>& d_weights,
                                 const SinkhornOptions& options = {}, const Matrix<Scalar>& noise = {}) {
  using Real = math::real_of<Scalar>;
  attention::check_sinkhorn(scores, options, noise);
  expect_equal("sinkhorn_backward: rows of d_weights", d_weights.rows(), scores.rows());
  expect_equal("sinkhorn_backward: columns of d_weights", d_weights.cols(), scores.cols());
  const bool rising = options.order == SinkhornOrder::causal;
  std::vector<Matrix<Scalar>> steps{attention::sinkhorn_logits(scores, options, noise)};
  for (Index i = 0; i < 2 * options.iterations; ++i) {
    Matrix<Scalar> next = steps.back();
    attention::normalise_lines(next, i % 2 == 0, i % 2 != 0 && rising);
    steps.push_back(std::move(next));
  }
  Matrix<Scalar> d = d_weights;
  for (Index i = 0; i < d.size(); ++i) d.data()[i] *= math::exp(steps.back().data()[i]);
  for (Index i = 2 * options.iterations; i-- > 0;)
    attention::normalise_lines_backward(steps[std::size_t(i)], steps[std::size_t(i + 1)], d, i % 2 == 0,
                                        i % 2 != 0 && rising);
  for (Index i = 0; i < d.size(); ++i) {
    const Scalar x = scores.data()[i];
    d.data()[i] /= Scalar(Real(options.temperature));
    if (math::real(steps.front().data()[i]) == -math::infinity<Scalar>) d.data()[i] = Scalar(0);
    if (options.scores == SinkhornScores::positive)
      d.data()[i] =
          math::real(x) > 0 ? d.data()[i] / (x + Scalar(Real(attention::positive_floor))) : Scalar(0);
  }
  return d;
}

/// The `count` best blocks of every row of scores, best first, as weights: row B count + rank holds one
/// number, the softmax of the scores that were left.
///
///     count times:  p = softmax(R_B),  keep the largest p, set its score to -inf
///
/// scores [rows, blocks] -> [rows * count, blocks]. Throws ShapeError when count is not between 1 and blocks.
/// Cost: O(count rows blocks).
template <class Scalar>
Matrix<Scalar> best_blocks(const Matrix<Scalar>& scores, Index count) {
  expect_positive("best_blocks: count", count);
  if (count > scores.cols())
    fail_shape("best_blocks: count", std::to_string(count),
               "at most the " + std::to_string(scores.cols()) + " blocks there are");
  Matrix<Scalar> weights = Matrix<Scalar>::Zero(scores.rows() * count, scores.cols());
  for (Index row = 0; row < scores.rows(); ++row) {
    std::vector<bool> taken(std::size_t(scores.cols()), false);
    for (Index rank = 0; rank < count; ++rank) {
      Index best = -1;
      for (Index c = 0; c < scores.cols(); ++c)
        if (!taken[std::size_t(c)] &&
            (best < 0 || math::real(scores(row, c)) > math::real(scores(row, best))))
          best = c;
      Scalar sum(0);
      for (Index c = 0; c < scores.cols(); ++c)
        if (!taken[std::size_t(c)]) sum += math::exp(scores(row, c) - scores(row, best));
      weights(row * count + rank, best) = Scalar(1) / sum;
      taken[std::size_t(best)] = true;
    }
  }
  return weights;
}

/// The gradient of the scores, given that of best_blocks(scores, count). Which blocks are best is a constant.
template <class Scalar>
Matrix<Scalar> best_blocks_backward(const Matrix<Scalar>& scores, const Matrix<Scalar>& d_weights,
                                    Index count) {
  const Matrix<Scalar> weights = best_blocks(scores, count);
  expect_equal("best_blocks_backward: rows of d_weights", d_weights.rows(), weights.rows());
  expect_equal("best_blocks_backward: columns of d_weights", d_weights.cols(), weights.cols());
  Matrix<Scalar> d = Matrix<Scalar>::Zero(scores.rows(), scores.cols());
  for (Index row = 0; row < scores.rows(); ++row) {
    std::vector<bool> taken(std::size_t(scores.cols()), false);
    for (Index rank = 0; rank < count; ++rank) {
      Index best = 0;
      while (weights(row * count + rank, best) == Scalar(0)) ++best;
      const Scalar kept = weights(row * count + rank, best);
      const Scalar pulled = d_weights(row * count + rank, best) * kept;
      for (Index c = 0; c < scores.cols(); ++c)
        if (!taken[std::size_t(c)])
          d(row, c) -= pulled * kept * math::exp(scores(row, c) - scores(row, best));
      d(row, best) += pulled;
      taken[std::size_t(best)] = true;
    }
  }
  return d;
}

}  // namespace headwise
