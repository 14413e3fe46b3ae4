#pragma once

#include <headwise/core/error.hpp>
#include <headwise/core/parameter.hpp>
#include <headwise/core/random.hpp>
#include <headwise/position/add_positions.hpp>
#include <headwise/position/positions.hpp>

#include <span>
#include <string>
#include <utility>

namespace headwise::position {

namespace detail {

inline void check_axial(Index x_rows, Index x_cols, Index rows, Index row_width, Index columns,
                        Index column_width, std::span<const Position> positions) {
  expect_equal("add_axial_positions: columns of x", x_cols, row_width + column_width,
               "the widths of both tables together");
  expect_equal("add_axial_positions: number of positions", Index(positions.size()), x_rows,
               "give one for each row of x");
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (0 <= positions[i] && Index(positions[i]) < rows * columns) continue;
    fail_shape("add_axial_positions: positions[" + std::to_string(i) + "]", std::to_string(positions[i]),
               "0 to " + std::to_string(rows * columns - 1), "the grid ends there");
  }
}

}  // namespace detail

/// x plus a row of each table, side by side: position p stands at (p / C, p mod C) of a grid R by C.
///   x [n, a + b], rows [R, a], columns [C, b], positions [n] -> [n, a + b]
/// Throws ShapeError when the widths differ, or a position is not on the grid.
template <RealMatrix X, Computable Rows, Computable Columns>
Matrix<scalar_of<X>> add_axial_positions(const X& x, const Rows& rows, const Columns& columns,
                                         std::span<const Position> positions) {
  const auto& r = value_of(rows);
  const auto& c = value_of(columns);
  detail::check_axial(x.rows(), x.cols(), r.rows(), r.cols(), c.rows(), c.cols(), positions);
  Matrix<scalar_of<X>> out = x;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const Index row = Index(positions[i]) / c.rows(), column = Index(positions[i]) % c.rows();
    out.row(Index(i)).leftCols(r.cols()) += r.row(row);
    out.row(Index(i)).rightCols(c.cols()) += c.row(column);
  }
  return out;
}

struct AxialOptions {
  Index rows = 64, columns = 64;              ///< of the grid: rows * columns positions exist
  Index row_width = 256, column_width = 256;  ///< of the tables; their sum is d_model
  double stddev = 1;                          ///< of the initial tables
};

/// Axial positions: a long sequence is laid out as a grid, and a position is its row's vector beside its
/// column's.
///
///     x + [A[p / C] ; B[p mod C]]        A: [R, a], B: [C, b], a + b = d_model
///
/// R a + C b learned numbers serve R C positions. Cost: n d_model additions.
/// Paper: Kitaev et al., "Reformer: The Efficient Transformer", 2020, appendix D of version 2; Ho et al.,
/// "Axial Attention in Multidimensional Transformers", 2019.
template <class Scalar_ = float>
class Axial {
 public:
  using Scalar = Scalar_;

  /// Throws ShapeError when a size is not positive.
  Axial(const AxialOptions& options, Rng& rng) {
    expect_positive("Axial: rows", options.rows);
    expect_positive("Axial: columns", options.columns);
    expect_positive("Axial: row_width", options.row_width);
    expect_positive("Axial: column_width", options.column_width);
    rows_ = {normal(options.rows, options.row_width, Scalar(options.stddev), rng)};
    columns_ = {normal(options.columns, options.column_width, Scalar(options.stddev), rng)};
  }

  /// rows [R, a], columns [C, b], say of a published model.
  Axial(Matrix<Scalar> rows, Matrix<Scalar> columns) : rows_{std::move(rows)}, columns_{std::move(columns)} {}

  /// x [n, d_model], positions [n] -> [n, d_model]. Throws ShapeError, naming the position, when one is not
  /// on the grid, or when the sizes differ.
  auto operator()(const Sequence auto& x, std::span<const Position> positions) const {
    return add_axial_positions(x, rows_, columns_, positions);
  }

  /// The same for the positions first, first + 1, ...
  auto operator()(const Sequence auto& x, Index first = 0) const {
    return add_axial_positions(x, rows_, columns_, std::span<const Position>(consecutive(x.rows(), first)));
  }

  /// Visits rows [R, a], columns [C, b].
  void for_each_parameter(auto&& visit) { visit_all(*this, visit); }
  void for_each_parameter(auto&& visit) const { visit_all(*this, visit); }

  Index positions() const noexcept { return rows_.rows() * columns_.rows(); }

 private:
  static void visit_all(auto& self, auto&& visit) {
    visit("rows", self.rows_);
    visit("columns", self.columns_);
  }

  Parameter<Scalar> rows_, columns_;
};

}  // namespace headwise::position
