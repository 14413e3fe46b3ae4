#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/math.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/core/row_chunks.hpp>
#include <headwise/position/positions.hpp>
#include <headwise/position/rotary_scaling.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace headwise::position {

/// Which two channels of a head turn together: t and t + rotary_dim / 2 (GPT-NeoX, Llama as Hugging Face
/// stores it), or 2t and 2t + 1 (the paper, GPT-J, Llama as Meta stores it). Weights trained with one are
/// useless with the other.
enum class Pairing { half_split, interleaved };

struct RotaryOptions {
  Index head_dim = 64;
  Index rotary_dim = 0;  ///< r: the first r channels of a head turn, the rest pass unchanged; 0 means all
  double theta = 10000;
  Pairing pairing = Pairing::half_split;
  RotaryScaling scaling{};
};

/// Sine and cosine of every angle of a list of positions: made once, applied to query and key, of every
/// layer.
template <class Real>
struct RotaryTable {
  Matrix<Real> cosines, sines;  ///< [positions, rotary_dim / 2], magnitude included
  Index head_dim = 0;
  Pairing pairing = Pairing::half_split;

  Index rows() const noexcept { return cosines.rows(); }
};

/// Rotary positions: the pairs of channels of query and key are turned by angles proportional to the
/// position, so that their dot product depends on the distance only. Values are not turned.
///
///     (x_a, x_b) -> (x_a cos - x_b sin, x_a sin + x_b cos) g      angle = position w_t,  w_t = theta^(-2t /
///     r)
///
/// Angles, sines and cosines are computed in double for every scalar type: in half precision, or float,
/// distant positions collide. Cost: 3 r FLOPs a row and head; the table, a sine and a cosine for each
/// position and pair. Paper: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding",
/// 2021, section 3.2.
class Rotary {
 public:
  /// Throws ShapeError when head_dim is not positive, rotary_dim is odd, zero or above head_dim, theta is not
  /// above 1, or a setting of the scaling is out of range.
  explicit Rotary(RotaryOptions options) : options_(std::move(options)) {
    expect_positive("Rotary: head_dim", options_.head_dim);
    if (options_.rotary_dim == 0) options_.rotary_dim = options_.head_dim;
    const Index r = options_.rotary_dim;
    if (r < 0 || r > options_.head_dim) {
      fail_shape("Rotary: rotary_dim", std::to_string(r),
                 "at most " + std::to_string(options_.head_dim) + " (head_dim)",
                 "channels of a head turn, not of the model");
    }
    expect_multiple("Rotary: rotary_dim", r, 2, "channels turn in pairs");
    detail::expect_above("Rotary: theta", options_.theta, 1);
    std::visit([&](const auto& scaling) { detail::check_scaling(scaling, r); }, options_.scaling);
    if (!reads_length(options_.scaling)) fixed_ = computed(0);
  }

  const RotaryOptions& options() const noexcept { return options_; }

  /// w_t and g, for a text of seq_len tokens. Only DynamicNtkScaling and LongRopeScaling read seq_len.
  /// Throws ShapeError when they do and it is not given, or when it is not positive.
  RotaryFrequencies frequencies(std::optional<Index> seq_len = {}) const {
    if (!reads_length(options_.scaling)) return fixed_;
    if (!seq_len) {
      throw ShapeError(
          "Rotary: seq_len is not given, expected the length of the whole text; this scaling changes with "
          "it: use "
          "one length for query and key, and keep unrotated keys in a cache");
    }
    expect_positive("Rotary: seq_len", *seq_len);
    return computed(*seq_len);
  }

  /// positions [n], of any sign -> a table of n rows, for float, double or long double; the same bits for any
  /// executor. Throws as frequencies(seq_len).
  template <class Real = float>
  RotaryTable<Real> table(std::span<const Position> positions, std::optional<Index> seq_len = {},
                          const Executor& executor = {}) const {
    const RotaryFrequencies turned = frequencies(seq_len);
    const Index rows = Index(positions.size()), pairs = Index(turned.angular.size());
    RotaryTable<Real> result{Matrix<Real>(rows, pairs), Matrix<Real>(rows, pairs), options_.head_dim,
                             options_.pairing};
    constexpr double cost = 200;  // of a sine and a cosine, in numbers read or written
    for_each_row_chunk(executor, rows, cost * double(pairs), [&](Range chunk) {
      for (Index row = chunk.begin; row < chunk.end; ++row) {
        for (Index t = 0; t < pairs; ++t) {
          const double angle = double(positions[std::size_t(row)]) * turned.angular[std::size_t(t)];
          result.cosines(row, t) = Real(turned.magnitude * std::cos(angle));
          result.sines(row, t) = Real(turned.magnitude * std::sin(angle));
        }
      }
    });
    return result;
  }

 private:
  RotaryFrequencies computed(Index seq_len) const {
    return std::visit(
        [&](const auto& scaling) {
          return detail::scaled(scaling, options_.theta, options_.rotary_dim, seq_len);
        },
        options_.scaling);
  }

  RotaryOptions options_;
  RotaryFrequencies fixed_;  ///< when they do not depend on the length
};

namespace detail {

/// Turns `lanes` pairs of one head: xa and xb are the channels that turn together, the next pair `step`
/// further. All numbers are read before any is written, so that the output may be the input. Side by side
/// (step 1) fixed arrays of Eigen become vector instructions in every compiler; two apart, plain loops do
/// better.
template <int lanes, int step, class Scalar, class Real>
void rotate_lanes(const Scalar* xa, const Scalar* xb, Scalar* a, Scalar* b, const Real* cosines,
                  const Real* sines, Real direction) {
  using Scalars = Eigen::Array<Scalar, lanes, 1>;
  using Reals = Eigen::Array<Real, lanes, 1>;
  if constexpr (step == 1 && lanes > 1) {
    const Scalars first = Eigen::Map<const Scalars>(xa), second = Eigen::Map<const Scalars>(xb);
    const Reals cosine = Eigen::Map<const Reals>(cosines), sine = direction * Eigen::Map<const Reals>(sines);
    Eigen::Map<Scalars>{a} = first * cosine - second * sine;
    Eigen::Map<Scalars>{b} = first * sine + second * cosine;
  } else {
    Scalars first, second;
    for (int t = 0; t < lanes; ++t) {
      const Real cosine = cosines[t], sine = direction * sines[t];
      first[t] = xa[t * step] * cosine - xb[t * step] * sine;
      second[t] = xa[t * step] * sine + xb[t * step] * cosine;
    }
    for (int t = 0; t < lanes; ++t) {
      a[t * step] = first[t];
      b[t * step] = second[t];
    }
  }
}

template <int step, class Scalar>
void rotate_rows(const ConstMatrixRef<Scalar>& x, const RotaryTable<math::real_of<Scalar>>& table,
                 Index heads, math::real_of<Scalar> direction, MatrixRef<Scalar> out, Range rows) {
  constexpr int lanes = 8;
  const Index pairs = table.cosines.cols(), partner = step == 1 ? pairs : 1;
  for (Index row = rows.begin; row < rows.end; ++row) {
    const auto* cosines = table.cosines.data() + row * pairs;
    const auto* sines = table.sines.data() + row * pairs;
    for (Index head = 0; head < heads; ++head) {
      const Scalar* from = x.data() + row * x.outerStride() + head * table.head_dim;
      Scalar* to = out.data() + row * out.outerStride() + head * table.head_dim;
      if (to != from) std::copy_n(from + 2 * pairs, table.head_dim - 2 * pairs, to + 2 * pairs);
      Index t = 0;
      for (; t + lanes <= pairs; t += lanes) {
        rotate_lanes<lanes, step>(from + t * step, from + t * step + partner, to + t * step,
                                  to + t * step + partner, cosines + t, sines + t, direction);
      }
      for (; t < pairs; ++t) {
        rotate_lanes<1, step>(from + t * step, from + t * step + partner, to + t * step,
                              to + t * step + partner, cosines + t, sines + t, direction);
      }
    }
  }
}

template <class Scalar>
void rotate_rows(const ConstMatrixRef<Scalar>& x, const RotaryTable<math::real_of<Scalar>>& table,
                 Index heads, math::real_of<Scalar> direction, MatrixRef<Scalar> out,
                 const Executor& executor) {
  for_each_row_chunk(executor, x.rows(), 3.0 * double(x.cols()), [&](Range rows) {
    if (table.pairing == Pairing::half_split) {
      rotate_rows<1, Scalar>(x, table, heads, direction, out, rows);
    } else {
      rotate_rows<2, Scalar>(x, table, heads, direction, out, rows);
    }
  });
}

template <class Real>
void expect_rotatable(Index rows, Index cols, const RotaryTable<Real>& table, Index heads) {
  expect_positive("rotate: heads", heads);
  expect_equal("rotate: columns of x", cols, heads * table.head_dim,
               std::to_string(heads) + " heads of " + std::to_string(table.head_dim));
  expect_equal("rotate: rows of x", rows, table.rows(), "the table has one row for each position");
}

}  // namespace detail

// An executor shares rows between threads, and changes no bits.

/// out = x with every head turned; out may be x itself.   x, out [n, heads * head_dim], table of n positions.
/// Throws ShapeError when the sizes differ.
template <RealMatrix X>
void rotate_into(const X& x, const RotaryTable<math::real_of<scalar_of<X>>>& table, Index heads,
                 MatrixRef<scalar_of<X>> out, const Executor& executor = {}) {
  detail::expect_rotatable(x.rows(), x.cols(), table, heads);
  expect_equal("rotate_into: rows of out", out.rows(), x.rows());
  expect_equal("rotate_into: columns of out", out.cols(), x.cols());
  detail::rotate_rows<scalar_of<X>>(x, table, heads, 1, out, executor);
}

/// Query or key with every head turned.   x [n, heads * head_dim], table of n positions -> the same shape.
/// With grouped queries, key has its own number of heads and the same table. A temporary gives its memory.
/// Throws ShapeError when the sizes differ.
template <RealMatrix X>
Matrix<scalar_of<X>> rotate(const X& x, const RotaryTable<math::real_of<scalar_of<X>>>& table, Index heads,
                            const Executor& executor = {}) {
  detail::expect_rotatable(x.rows(), x.cols(), table, heads);
  Matrix<scalar_of<X>> out(x.rows(), x.cols());
  detail::rotate_rows<scalar_of<X>>(x, table, heads, 1, out, executor);
  return out;
}

template <class Scalar>
Matrix<Scalar> rotate(Matrix<Scalar>&& x, const RotaryTable<math::real_of<Scalar>>& table, Index heads,
                      const Executor& executor = {}) {
  rotate_into(x, table, heads, x, executor);
  return std::move(x);
}

/// The same, the table made on the way.   positions [n].
template <RealMatrix X>
Matrix<scalar_of<X>> rotate(const X& x, const Rotary& rotary, Index heads,
                            std::span<const Position> positions) {
  return rotate(x, rotary.table<math::real_of<scalar_of<X>>>(positions), heads);
}

/// The same for the positions first, first + 1, ...: with a cache, first is its length.
template <RealMatrix X>
Matrix<scalar_of<X>> rotate(const X& x, const Rotary& rotary, Index heads, Index first = 0) {
  return rotate(x, rotary, heads, std::span<const Position>(consecutive(x.rows(), first)));
}

/// The gradient of x, given that of its rotation: turned back by the same angles, times the same magnitude.
///     d_output [n, heads * head_dim], table of n positions -> the same shape
/// Throws ShapeError when the sizes differ.
template <RealMatrix D>
Matrix<scalar_of<D>> rotate_backward(const D& d_output, const RotaryTable<math::real_of<scalar_of<D>>>& table,
                                     Index heads, const Executor& executor = {}) {
  detail::expect_rotatable(d_output.rows(), d_output.cols(), table, heads);
  Matrix<scalar_of<D>> d_x(d_output.rows(), d_output.cols());
  detail::rotate_rows<scalar_of<D>>(d_output, table, heads, -1, d_x, executor);
  return d_x;
}

}  // namespace headwise::position
