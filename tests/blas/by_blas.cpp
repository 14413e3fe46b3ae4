#include <headwise/core/product.hpp>

#include "blas/units.hpp"

#include <limits>

namespace headwise::products {
namespace {

static_assert(std::same_as<detail::FileProducts, detail::ProductsOfBlas<FileFlags>>,
              "this file shall be compiled for a BLAS");

/// All three matrices are blocks of wider ones whose other numbers are NaN and must stay unread.
template <class Scalar>
Matrix<Scalar> product(const Matrix<Scalar>& a, const Matrix<Scalar>& b, int transposed,
                       const Executor& executor) {
  const auto embedded = [](const Matrix<Scalar>& x) {
    Matrix<Scalar> wide =
        Matrix<Scalar>::Constant(x.rows() + 1, x.cols() + 3, std::numeric_limits<Scalar>::quiet_NaN());
    wide.topLeftCorner(x.rows(), x.cols()) = x;
    return wide;
  };
  const Matrix<Scalar> left = embedded(a), right = embedded(b);
  const ConstMatrixRef<Scalar> left_block = left.topLeftCorner(a.rows(), a.cols());
  const ConstMatrixRef<Scalar> right_block = right.topLeftCorner(b.rows(), b.cols());
  Matrix<Scalar> out =
      embedded(Matrix<Scalar>(transposed < 0 ? a.cols() : a.rows(), transposed > 0 ? b.rows() : b.cols()));
  MatrixRef<Scalar> block = out.topLeftCorner(out.rows() - 1, out.cols() - 3);
  block.setConstant(std::numeric_limits<Scalar>::quiet_NaN());
  if (transposed < 0) {
    detail::multiply_transposed_left_into<Scalar>(left_block, right_block, block, executor);
  } else if (transposed > 0) {
    detail::multiply_transposed_into<Scalar>(left_block, right_block, block, executor);
  } else {
    detail::multiply_into<Scalar>(left_block, right_block, block, executor);
  }
  return block;
}

}  // namespace

Matrix<float> by_blas(const Matrix<float>& a, const Matrix<float>& b, int transposed,
                      const Executor& executor) {
  return product(a, b, transposed, executor);
}
Matrix<double> by_blas(const Matrix<double>& a, const Matrix<double>& b, int transposed,
                       const Executor& executor) {
  return product(a, b, transposed, executor);
}

}  // namespace headwise::products
