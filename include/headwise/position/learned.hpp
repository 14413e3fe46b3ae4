#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/parameter.hpp>
#include <headwise/core/random.hpp>
#include <headwise/position/add_positions.hpp>
#include <headwise/position/positions.hpp>

#include <span>
#include <utility>

namespace headwise::position {

struct LearnedOptions {
  Index max_len = 512;  ///< positions 0 to max_len - 1 exist
  Index d_model = 512;
  double stddev = 0.02;  ///< of the initial table
};

/// Learned positions: one learned row for each position, added to the input.
///
///     x + T[positions]        T: [max_len, d_model]
///
/// There is no row for a position of max_len or beyond: that is an error, never a clamp.
/// Cost: n d_model additions.
/// Paper: Gehring et al., "Convolutional Sequence to Sequence Learning", 2017, section 3.1.
template <class Scalar_ = float>
class Learned {
 public:
  using Scalar = Scalar_;

  /// Throws ShapeError when max_len or d_model is not positive.
  Learned(const LearnedOptions& options, Rng& rng) {
    expect_positive("Learned: max_len", options.max_len);
    expect_positive("Learned: d_model", options.d_model);
    table_ = {normal(options.max_len, options.d_model, Scalar(options.stddev), rng)};
  }

  /// table [max_len, d_model], say of a published model.
  explicit Learned(Matrix<Scalar> table) : table_{std::move(table)} {}

  /// x [n, d_model], positions [n] -> [n, d_model].
  /// Throws ShapeError, naming the position, when one is not in the table, or when the sizes differ.
  auto operator()(const Sequence auto& x, std::span<const Position> positions) const {
    return add_positions(x, table_, positions);
  }

  /// The same for the positions first, first + 1, ...: with a cache, first is its length.
  auto operator()(const Sequence auto& x, Index first = 0) const {
    return add_positions(x, table_, std::span<const Position>(consecutive(x.rows(), first)));
  }

  /// Visits table [max_len, d_model].
  void for_each_parameter(auto&& visit) { visit("table", table_); }
  void for_each_parameter(auto&& visit) const { visit("table", table_); }

  const Matrix<Scalar>& table() const noexcept { return table_.value; }

 private:
  Parameter<Scalar> table_;
};

}  // namespace headwise::position
