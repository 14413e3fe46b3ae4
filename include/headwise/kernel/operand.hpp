#pragma once

#include <headwise/core/matrix.hpp>

#include <algorithm>
#include <type_traits>

namespace headwise::kernel {

/// A matrix of tokens as the kernels see it: where the numbers are, whatever type holds them.
///
/// Element (sequence, row, head, column) is at
///
///     base(sequence, first_row) + row * row_stride + head * head_stride + column * column_stride
///
/// so that column blocks, transposed storage and [batch, heads, tokens, head_dim] tensors all enter as views.
template <class Element>
struct Operand {
  Element* data = nullptr;
  Index rows = 0;  ///< of all sequences
  Index cols = 0;  ///< of all heads
  Index row_stride = 0, column_stride = 1, head_stride = 0;
  Index sequence_stride = -1;  ///< of a batch dimension; negative when sequences are stacked row under row

  /// Where row 0 of one head of one sequence begins; first_row is the sequence's first row in the stack.
  Element* at(Index sequence, Index first_row, Index head) const noexcept {
    const Index start = sequence_stride >= 0 ? sequence * sequence_stride : first_row * row_stride;
    return data == nullptr ? nullptr
                           : data + start + head * head_stride;  // nothing lies behind an empty matrix
  }
};

/// True for what can be read in place: matrices, maps, refs and blocks, of either storage order.
template <class T>
inline constexpr bool has_direct_access = (int(std::remove_cvref_t<T>::Flags) &
                                           int(Eigen::DirectAccessBit)) != 0;

/// The argument itself when it can be read in place, else its value: the only copy that an argument ever
/// costs.
template <class T>
decltype(auto) in_place(const T& x) {
  if constexpr (has_direct_access<T>) {
    return (x);
  } else {
    return Matrix<scalar_of<T>>(x);
  }
}

/// A view of x with `heads` blocks of columns. x must outlive it.
template <class T>
Operand<const scalar_of<T>> operand(const T& x, Index heads) {
  return {x.data(), x.rows(), x.cols(), x.rowStride(), x.colStride(), (x.cols() / heads) * x.colStride()};
}

template <class Scalar>
Operand<Scalar> writable_operand(Matrix<Scalar>& x, Index heads) {
  return {x.data(), x.rows(), x.cols(), x.rowStride(), x.colStride(), (x.cols() / heads) * x.colStride()};
}

/// One head of one sequence of an operand: row i, column x is data[i * row_stride + x * column_stride].
template <class Element>
struct HeadView {
  Element* data = nullptr;
  Index row_stride = 0, column_stride = 1;

  /// Row i. A pointer, not a reference to its first number: a head of no columns has none.
  Element* row(Index i) const noexcept { return data == nullptr ? nullptr : data + i * row_stride; }

  Element& operator()(Index row, Index column) const noexcept {
    return data[row * row_stride + column * column_stride];
  }
};

template <class Element>
HeadView<Element> head_view(const Operand<Element>& operand, Index sequence, Index first_row,
                            Index head) noexcept {
  return {operand.at(sequence, first_row, head), operand.row_stride, operand.column_stride};
}

/// Zeros in the first rows of a head.
template <class Scalar>
void clear_rows(HeadView<Scalar> head, Index rows, Index cols) noexcept {
  for (Index row = 0; row < rows; ++row) {
    if (head.column_stride == 1) {
      std::fill_n(head.row(row), cols, Scalar(0));
    } else {
      for (Index x = 0; x < cols; ++x) head(row, x) = Scalar(0);
    }
  }
}

}  // namespace headwise::kernel
