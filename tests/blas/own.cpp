#include <headwise/core/product.hpp>

#include "blas/units.hpp"

namespace headwise::products {
namespace {

static_assert(std::same_as<detail::FileProducts, detail::OwnProducts<FileFlags>>,
              "this file shall not be compiled for a BLAS");

template <class Scalar>
Matrix<Scalar> product(const Matrix<Scalar>& a, const Matrix<Scalar>& b, int transposed) {
  return transposed < 0   ? multiply_transposed_left(a, b)
         : transposed > 0 ? multiply_transposed(a, b)
                          : multiply(a, b);
}

}  // namespace

Matrix<float> of_our_own(const Matrix<float>& a, const Matrix<float>& b, int transposed) {
  return product(a, b, transposed);
}
Matrix<double> of_our_own(const Matrix<double>& a, const Matrix<double>& b, int transposed) {
  return product(a, b, transposed);
}

}  // namespace headwise::products
