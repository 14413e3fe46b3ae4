#pragma once

#include <headwise/core/lanes.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/product.hpp>
#include <headwise/core/tile.hpp>

#include <algorithm>
#include <utility>

/// A chunk of tokens of one key-value head of linear attention, as matrix products: see attend_linear.
namespace headwise::attention {

/// Some rows of one head, where they lie.
template <class Scalar>
using HeadRows = Eigen::Map<const Matrix<Scalar>, 0, Eigen::OuterStride<>>;

/// How many tokens meet in products. Every so many, backward keeps a state.
inline constexpr Index linear_chunk_len = 64;

/// Up to so many, they do not: calling a product costs more than its work.
inline constexpr Index few_linear_tokens = 8;

/// few(range) for each few tokens of a range, in order, and before it cross(early, late) for pairs of ranges
/// that, taken together, tell them of every token before them, each once: the range is cut into halves, and
/// those again. No product ever holds a later token, so that whatever lies there cannot reach an earlier one.
template <class Few, class Cross>
void by_halves(Range tokens, Few&& few, Cross&& cross) {
  if (tokens.size() <= few_linear_tokens) return few(tokens);
  const Range early{tokens.begin, (tokens.begin + tokens.end) / 2}, late{early.end, tokens.end};
  by_halves(early, few, cross);
  cross(early, late);
  by_halves(late, few, cross);
}

/// The same backwards: few(range) comes after every cross in which the range is early.
template <class Few, class Cross>
void by_halves_backward(Range tokens, Few&& few, Cross&& cross) {
  if (tokens.size() <= few_linear_tokens) return few(tokens);
  const Range early{tokens.begin, (tokens.begin + tokens.end) / 2}, late{early.end, tokens.end};
  by_halves_backward(late, few, cross);
  cross(early, late);
  by_halves_backward(early, few, cross);
}

/// to += by * row, both of row-major matrices.
template <class To, class Row>
void add_row(To&& to, const scalar_of<Row>& by, const Row& row) {
  combine_lanes(to.data(), row.data(), row.cols(),
                [by](scalar_of<Row> sum, scalar_of<Row> x) { return sum + by * x; });
}

/// The sum of products of two rows, also of complex numbers, of which none is conjugated.
template <class A, class B>
scalar_of<A> row_product(const A& a, const B& b) {
  using Scalar = scalar_of<A>;
  return sum_lanes(
      a.cols(), [](Scalar x, Scalar y) { return x * y; }, a.data(), b.data());
}

/// What each token leaves of the state: a_t = exp(decay_t), one number [n, 1], one a feature [n, d_k], or all
/// of it [n, 0]. Gates are multiplied, never divided: one of zero, which forgets everything, is a gate.
template <class Scalar>
class LinearGates {
 public:
  LinearGates() = default;
  explicit LinearGates(const ConstMatrixRef<Scalar>& decay)
      : gates_(decay.unaryExpr([](const Scalar& x) { return math::exp(x); })) {}

  bool given() const noexcept { return gates_.cols() > 0; }

  /// Row t times a_b ... a_t, b being the first of `tokens`: what token t sees of the state before them.
  Matrix<Scalar> from_start(const ConstMatrixRef<Scalar>& x, Range tokens) const {
    Matrix<Scalar> result = x;
    if (!given()) return result;
    Matrix<Scalar> product = gates_.row(tokens.begin);
    for (Index t = 0; t < result.rows(); ++t) {
      if (t > 0) product.array() *= gates_.row(tokens.begin + t).array();
      scale(result.row(t), product);
    }
    return result;
  }

  /// Row t times a_(t + 1) ... a_l, l being the last of `tokens`: what they leave of what token t wrote.
  Matrix<Scalar> to_end(const ConstMatrixRef<Scalar>& x, Range tokens) const {
    Matrix<Scalar> result = x;
    if (!given()) return result;
    Matrix<Scalar> product = Matrix<Scalar>::Ones(1, gates_.cols());
    for (Index t = result.rows() - 1; t >= 0; --t) {
      scale(result.row(t), product);
      product.array() *= gates_.row(tokens.begin + t).array();
    }
    return result;
  }

  /// What all tokens leave of a state [d_k, d_v].
  void decay(Matrix<Scalar>& state) const {
    if (!given()) return;
    const Matrix<Scalar> product = gates_.colwise().prod();
    for (Index c = 0; c < state.rows(); ++c) state.row(c) *= product(0, std::min(c, product.cols() - 1));
  }

  /// What token t leaves of a row of features.
  void fade(Matrix<Scalar>& row, Index t) const {
    if (given()) scale(row.row(0), gates_.row(t));
  }

 private:
  template <class Row, class By>
  static void scale(Row&& row, const By& by) {
    if (by.cols() == 1) {
      row *= by(0, 0);
    } else {
      row.array() *= by.array();
    }
  }

  Matrix<Scalar> gates_;
};

template <class Scalar>
struct LinearChunk {
  HeadRows<Scalar> key, value;  ///< [n, d_k], [n, d_v]
  LinearGates<Scalar> gates;
  Matrix<Scalar> beta;  ///< [n, 1]; empty: values are written as they are

  Range tokens() const noexcept { return {0, key.rows()}; }
};

/// What the tokens of a chunk write.
template <class Scalar>
struct LinearWritten {
  Matrix<Scalar> rows;    ///< u [n, d_v]
  Matrix<Scalar> errors;  ///< v - r [n, d_v], of which u is a part; empty without beta
};

/// Adds to row t of r what x_t finds of the tokens [first, t), fading x back from one to the next.
template <class Scalar>
void linear_read_few(const LinearChunk<Scalar>& chunk, const HeadRows<Scalar>& x,
                     const Matrix<Scalar>& written, Index first, Index t, Matrix<Scalar>& r) {
  Matrix<Scalar> faded = x.row(t);
  for (Index i = t - 1; i >= first; --i) {
    chunk.gates.fade(faded, i + 1);
    add_row(r.row(t), row_product(faded, chunk.key.row(i)), written.row(i));
  }
}

/// What is found under x before each token writes, r_t = S_t^T x_t:   x [n, d_k] -> [n, d_v]
/// token(t, r) is called once row t of r is there, and before row t of `written` is read.
template <class Scalar, class Token>
Matrix<Scalar> linear_read(const LinearChunk<Scalar>& chunk, const HeadRows<Scalar>& x,
                           const Matrix<Scalar>& state, const Matrix<Scalar>& written, Token&& token) {
  const LinearGates<Scalar>& gates = chunk.gates;
  Matrix<Scalar> r = multiply(gates.from_start(x, chunk.tokens()), state);
  by_halves(
      chunk.tokens(),
      [&](Range tokens) {
        for (Index t = tokens.begin; t < tokens.end; ++t) {
          linear_read_few(chunk, x, written, tokens.begin, t, r);
          token(t, r);
        }
      },
      [&](Range early, Range late) {
        const Matrix<Scalar> scores = multiply_transposed(
            gates.from_start(x.middleRows(late.begin, late.size()), late),
            gates.to_end(chunk.key.middleRows(early.begin, early.size()), early));  // [late, early]
        r.middleRows(late.begin, late.size()) +=
            multiply(scores, written.middleRows(early.begin, early.size()));
      });
  return r;
}

/// u_t = v_t, or beta_t (v_t - r_t) with r read under the keys themselves: each token corrects what it finds.
template <class Scalar>
LinearWritten<Scalar> linear_written(const LinearChunk<Scalar>& chunk, const Matrix<Scalar>& state) {
  if (chunk.beta.size() == 0) return {chunk.value, {}};
  LinearWritten<Scalar> result{Matrix<Scalar>(chunk.value.rows(), chunk.value.cols()), chunk.value};
  linear_read(chunk, chunk.key, state, result.rows, [&](Index t, const Matrix<Scalar>& r) {
    result.errors.row(t) -= r.row(t);
    result.rows.row(t) = chunk.beta(t, 0) * result.errors.row(t);
  });
  return result;
}

/// S_t^T q_t of each token, its own writing included.
template <class Scalar>
Matrix<Scalar> linear_output(const LinearChunk<Scalar>& chunk, const HeadRows<Scalar>& query,
                             const Matrix<Scalar>& state, const Matrix<Scalar>& written) {
  return linear_read(chunk, query, state, written, [&](Index t, Matrix<Scalar>& r) {
    add_row(r.row(t), row_product(query.row(t), chunk.key.row(t)), written.row(t));
  });
}

/// The state after the chunk.
template <class Scalar>
void linear_advance(const LinearChunk<Scalar>& chunk, const Matrix<Scalar>& written, Matrix<Scalar>& state) {
  chunk.gates.decay(state);
  state += multiply_transposed_left(chunk.gates.to_end(chunk.key, chunk.tokens()), written);
}

}  // namespace headwise::attention
