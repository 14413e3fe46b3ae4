#pragma once

#include <headwise/autograd/record.hpp>
#include <headwise/position/axial.hpp>

#include <span>
#include <utility>
#include <vector>

namespace headwise::autograd {

/// x plus rows of two learned tables, recorded: see headwise::position::add_axial_positions.
template <class X, class Rows, class Columns>
requires Recorded<X, Rows, Columns>
auto add_axial_positions(const X& x, const Rows& rows, const Columns& columns,
                         std::span<const Position> positions) {
  const auto operands = detail::as_vars(x, rows, columns);
  using Scalar = scalar_of<decltype(operands[0])>;
  Matrix<Scalar> value =
      position::add_axial_positions(operands[0].value(), operands[1].value(), operands[2].value(), positions);
  return operands[0].tape().record(
      std::move(value), operands,
      [operands, at = std::vector<Position>(positions.begin(), positions.end())](Sweep<Scalar>& sweep,
                                                                                 Matrix<Scalar> d) {
        const auto& [in, by_row, by_column] = operands;
        for (std::size_t i = 0; i < at.size(); ++i) {
          const Index row = Index(at[i]) / by_column.rows(), column = Index(at[i]) % by_column.rows();
          if (sweep.wants(by_row)) sweep.sum(by_row).row(row) += d.row(Index(i)).leftCols(by_row.cols());
          if (sweep.wants(by_column))
            sweep.sum(by_column).row(column) += d.row(Index(i)).rightCols(by_column.cols());
        }
        sweep.add(in, std::move(d));
      });
}

}  // namespace headwise::autograd
