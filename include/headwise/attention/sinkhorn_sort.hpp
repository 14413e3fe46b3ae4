#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/lanes.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/core/ragged_rows.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
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

/// exp(x - largest), where -inf has no weight whatever is subtracted from it.
struct WeightBelow {
  template <class Scalar>
  Scalar operator()(const Scalar& x, const Scalar& largest) const noexcept {
    const Scalar weight = math::exp(x - largest);
    return math::select(math::real(x) == -math::infinity<Scalar>, Scalar(0), weight);
  }
};

/// x - lse, where -inf stays.
struct LogWeight {
  template <class Scalar>
  Scalar operator()(const Scalar& x, const Scalar& lse) const noexcept {
    return math::select(math::real(x) == -math::infinity<Scalar>, x, x - lse);
  }
};

/// Sums of exponentials of all columns at once, a row of a matrix at a time, in lanes.
template <class Scalar>
class ColumnSums {
 public:
  explicit ColumnSums(Index columns)
      : largest_(std::size_t(columns), Scalar(-math::infinity<Scalar>)),
        sum_(std::size_t(columns), Scalar(0)),
        scratch_(std::size_t(columns)) {}

  /// The maxima of what follows; the sums must be empty.
  void raise(const Scalar* row) {
    combine_lanes(largest_.data(), row, columns(), [](const Scalar& a, const Scalar& b) {
      return math::select(math::real(b) > math::real(a), b, a);
    });
  }
  /// Adds a row beneath the maxima.
  void add(const Scalar* row) {
    std::copy_n(row, columns(), scratch_.begin());
    combine_lanes(scratch_.data(), largest_.data(), columns(), WeightBelow{});
    combine_lanes(sum_.data(), scratch_.data(), columns(), std::plus<>{});
  }
  /// Adds a row, and lets the maxima follow.
  void raise_and_add(const Scalar* row) {
    scratch_ = largest_;
    raise(row);
    combine_lanes(scratch_.data(), largest_.data(), columns(), WeightBelow{});
    combine_lanes(sum_.data(), scratch_.data(), columns(), std::multiplies<>{});
    add(row);
  }
  /// row -= lse of its columns, as they are.
  void subtract_from(Scalar* row) {
    scratch_ = sum_;
    combine_lanes(scratch_.data(), largest_.data(), columns(),
                  [](const Scalar& sum, const Scalar& largest) { return largest + math::log(sum); });
    combine_lanes(row, scratch_.data(), columns(), LogWeight{});
  }

 private:
  Index columns() const noexcept { return Index(sum_.size()); }

  std::vector<Scalar> largest_, sum_, scratch_;
};

/// r -= log sum exp of its column, in place; a column of -inf stays. `rising`: the sum for row i runs up to
/// i, beneath a maximum of its own: what comes later must not decide what underflows.
template <class Scalar>
void normalise_columns(Matrix<Scalar>& r, bool rising) {
  ColumnSums<Scalar> sums(r.cols());
  const auto row = [&](Index i) { return r.data() + i * r.cols(); };
  if (rising) {
    for (Index i = 0; i < r.rows(); ++i) {
      sums.raise_and_add(row(i));
      sums.subtract_from(row(i));
    }
    return;
  }
  for (Index i = 0; i < r.rows(); ++i) sums.raise(row(i));
  for (Index i = 0; i < r.rows(); ++i) sums.add(row(i));
  for (Index i = 0; i < r.rows(); ++i) sums.subtract_from(row(i));
}

/// d of the result of normalise_columns becomes that of its input. before: its input, after: its result. d is
/// zero where before is -inf.
///
///     d_i -= exp(after_i) sum over k of d_k exp(lse_i - lse_k)        all k, or with `rising` those from i
///     on
template <class Scalar>
void normalise_columns_backward(const Matrix<Scalar>& before, const Matrix<Scalar>& after, Matrix<Scalar>& d,
                                bool rising) {
  const Index n = d.cols();
  Matrix<Scalar> lines(5, n);
  Scalar* const sum = lines.data();  // of the rows that the sum has reached
  Scalar* const weight = sum + n;    // of one row
  Scalar* const lse = weight + n;    // of one row
  Scalar* const next = lse + n;      // lse of the row that came before in the sum
  Scalar* const ratio = next + n;
  std::fill_n(sum, n, Scalar(0));
  std::fill_n(next, n, Scalar(math::infinity<Scalar>));
  const auto pull = [&](Index i) {
    std::copy_n(after.data() + i * n, n, weight);
    transform_lanes(weight, n, [](const Scalar& x) { return WeightBelow{}(x, Scalar(0)); });
    combine_lanes(weight, sum, n, std::multiplies<>{});
    combine_lanes(d.data() + i * n, weight, n, std::minus<>{});
  };
  if (!rising) {
    for (Index i = 0; i < d.rows(); ++i) combine_lanes(sum, d.data() + i * n, n, std::plus<>{});
    for (Index i = 0; i < d.rows(); ++i) pull(i);
    return;
  }
  for (Index i = d.rows(); i-- > 0;) {
    // lse_i, or NaN in columns that have nothing in this row: there the sum waits.
    std::copy_n(before.data() + i * n, n, lse);
    combine_lanes(lse, after.data() + i * n, n, std::minus<>{});
    std::copy_n(next, n, ratio);
    combine_lanes(ratio, lse, n, [](const Scalar& later, const Scalar& now) {
      return math::select(math::real(now) == math::real(now), math::exp(now - later), Scalar(1));
    });
    combine_lanes(next, lse, n, [](const Scalar& later, const Scalar& now) {
      return math::select(math::real(now) == math::real(now), now, later);
    });
    combine_lanes(sum, ratio, n, std::multiplies<>{});
    combine_lanes(sum, d.data() + i * n, n, std::plus<>{});
    pull(i);
  }
}

/// Rows are normalised as the columns of the transpose.
template <class Scalar>
void normalise(Matrix<Scalar>& r, bool rows, bool rising) {
  if (!rows) return normalise_columns(r, rising);
  Matrix<Scalar> turned = r.transpose();
  normalise_columns(turned, rising);
  r = turned.transpose();
}

template <class Scalar>
void normalise_backward(const Matrix<Scalar>& before, const Matrix<Scalar>& after, Matrix<Scalar>& d,
                        bool rows, bool rising) {
  if (!rows) return normalise_columns_backward(before, after, d, rising);
  Matrix<Scalar> turned = d.transpose();
  normalise_columns_backward<Scalar>(before.transpose(), after.transpose(), turned, rising);
  d = turned.transpose();
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
    attention::normalise(r, true, false);
    attention::normalise(r, false, options.order == SinkhornOrder::causal);
  }
  transform_lanes(r.data(), r.size(), [](const Scalar& x) { return attention::WeightBelow{}(x, Scalar(0)); });
  return r;
}

/// The gradient of the scores, given that of sinkhorn(scores). Steps are computed again and kept meanwhile.
/// Cost: O(iterations blocks^2) time and memory.
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
    attention::normalise(next, i % 2 == 0, i % 2 != 0 && rising);
    steps.push_back(std::move(next));
  }
  Matrix<Scalar> d = d_weights;
  for (Index i = 0; i < d.size(); ++i) d.data()[i] *= math::exp(steps.back().data()[i]);
  for (Index i = 2 * options.iterations; i-- > 0;)
    attention::normalise_backward(steps[std::size_t(i)], steps[std::size_t(i + 1)], d, i % 2 == 0,
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
