// A BLAS of plain loops, by the Fortran convention: what it is asked is what the interface allows.
#include <headwise/core/product.hpp>

#include <gtest/gtest.h>

#include "blas/units.hpp"
#include "support/check.hpp"
#include "support/reference.hpp"

#include <algorithm>
#include <atomic>

namespace {

std::atomic<int> calls = 0;

template <class Scalar>
void gemm(char ta, char tb, int m, int n, int k, Scalar alpha, const Scalar* a, int lda, const Scalar* b,
          int ldb, Scalar beta, Scalar* c, int ldc) {
  ++calls;
  EXPECT_TRUE(ta == 'N' || ta == 'T');
  EXPECT_TRUE(tb == 'N' || tb == 'T');
  EXPECT_GE(std::min({m, n, k}), 1);
  EXPECT_GE(lda, ta == 'N' ? m : k);
  EXPECT_GE(ldb, tb == 'N' ? k : n);
  EXPECT_GE(ldc, m);
  EXPECT_EQ(beta, Scalar(0)) << "the result is written, not added to";
  const auto at = [](const Scalar* x, int stride, char t, int row, int column) {
    return t == 'N' ? x[row + std::ptrdiff_t(column) * stride] : x[column + std::ptrdiff_t(row) * stride];
  };
  for (int column = 0; column < n; ++column) {
    for (int row = 0; row < m; ++row) {
      Scalar sum(0);
      for (int step = 0; step < k; ++step) sum += at(a, lda, ta, row, step) * at(b, ldb, tb, step, column);
      c[row + std::ptrdiff_t(column) * ldc] = alpha * sum;
    }
  }
}

}  // namespace

extern "C" void sgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k,
                       const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
                       const float* beta, float* c, const int* ldc) {
  gemm(*ta, *tb, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);
}
extern "C" void dgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k,
                       const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
                       const double* beta, double* c, const int* ldc) {
  gemm(*ta, *tb, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);
}

namespace headwise::products {
namespace {

using check::near;
using check::random;

TEST(Blas, IsAskedWhereItIsLinked) {
  const Matrix<float> a = random(20, 30, 1).cast<float>(), b = random(30, 40, 2).cast<float>();
  calls = 0;
  (void)multiply(a, b);
  EXPECT_EQ(calls, 1);
  (void)multiply_transposed(a, a);
  (void)multiply_transposed_left(a, a);
  EXPECT_EQ(calls, 3);
  (void)of_our_own(a, b, 0);
  EXPECT_EQ(calls, 3) << "a file that was compiled without it";
}

TEST(Blas, IsNotAskedForFewRowsByATransposedFactor) {
  const Matrix<double> a = random(1, 30, 1), b = random(40, 30, 2);
  calls = 0;
  EXPECT_TRUE(near(multiply_transposed(a, b), reference::product(a, b.transpose()), 1e-13));
  EXPECT_EQ(calls, 0);
}

TEST(Blas, IsNotAskedForRowsThatOverlap) {
  const Matrix<double> signal = random(1, 40, 1), b = random(8, 5, 2);
  using Windows = Eigen::Map<const Matrix<double>, 0, Eigen::OuterStride<>>;
  const Windows windows(signal.data(), 33, 8, Eigen::OuterStride<>(1));  // row i: numbers i to i + 7
  calls = 0;
  EXPECT_TRUE(near(multiply(windows, b), reference::product(Matrix<double>(windows), b), 1e-13));
  EXPECT_EQ(calls, 0);
}

TEST(Blas, IsAskedInPartsThatDependOnTheSizesAlone) {
  const Matrix<float> a = random(256, 512, 1).cast<float>(), b = random(1024, 512, 2).cast<float>();
  calls = 0;
  (void)by_blas(a, b, 1);
  EXPECT_EQ(calls, 1) << "2 * 256 * 512 * 1024 operations are one part";
  calls = 0;
  (void)by_blas(Matrix<float>(a.replicate(2, 1)), b, 1);
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace headwise::products
