#pragma once

#include <headwise/core/executor.hpp>
#include <headwise/core/matrix.hpp>

namespace headwise::products {

/// The same product in two files of one program, one of which is compiled for a BLAS.
/// `transposed`: -1 the left factor is stored transposed, 1 the right one, 0 none.
Matrix<float> by_blas(const Matrix<float>& a, const Matrix<float>& b, int transposed,
                      const Executor& executor = {});
Matrix<double> by_blas(const Matrix<double>& a, const Matrix<double>& b, int transposed,
                       const Executor& executor = {});
Matrix<float> of_our_own(const Matrix<float>& a, const Matrix<float>& b, int transposed);
Matrix<double> of_our_own(const Matrix<double>& a, const Matrix<double>& b, int transposed);

}  // namespace headwise::products
