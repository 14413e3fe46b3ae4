#pragma once

#include <headwise/core/policy.hpp>

#include <span>

/// What scores that read a table of the caller share.
namespace headwise::score {

/// How far apart in memory the neighbours of a table's number are.
struct TableStrides {
  Index row = 0, column = 0;
};

/// Of a matrix or view in either order.
template <class Table>
constexpr TableStrides strides_of(const Table& table) {
  if constexpr (Table::IsRowMajor) {
    return {table.outerStride(), table.innerStride()};
  } else {
    return {table.innerStride(), table.outerStride()};
  }
}

/// A bound score whose pairs have already written their gradients where pair_slot said: nothing is folded.
template <class Scalar>
struct WrittenByPairs {
  void fold(std::span<const LearnedSum<Scalar>>, std::span<Matrix<Scalar>>) const noexcept {}
};

}  // namespace headwise::score
