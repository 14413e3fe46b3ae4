// The products of a BLAS against our own, both in one program.
#include <headwise/core/thread_pool.hpp>

#include <gtest/gtest.h>

#include "blas/units.hpp"
#include "support/check.hpp"
#include "support/reference.hpp"

#include <limits>
#include <string>

namespace headwise::products {
namespace {

using check::near;
using check::random;

struct Size {
  Index rows, steps, columns;
};

template <class Scalar>
void check_products() {
  for (const Size& n :
       {Size{1, 1, 1}, {1, 64, 65}, {5, 64, 49}, {6, 65, 48}, {63, 64, 65}, {65, 300, 7}, {9, 0, 5}}) {
    const Matrix<Scalar> a = random(n.rows, n.steps, 1).template cast<Scalar>();
    const Matrix<Scalar> b = random(n.steps, n.columns, 2).template cast<Scalar>();
    const Matrix<double> expected = reference::product(a.template cast<double>(), b.template cast<double>());
    // n additions of products near 1 in size err by at most about n eps, here by as much for each of two
    // paths.
    const double allowed = 8 * double(std::numeric_limits<Scalar>::epsilon()) * double(n.steps + 1);
    for (int transposed : {-1, 0, 1}) {
      const Matrix<Scalar> left = transposed < 0 ? Matrix<Scalar>(a.transpose()) : a;
      const Matrix<Scalar> right = transposed > 0 ? Matrix<Scalar>(b.transpose()) : b;
      const std::string where = std::to_string(n.rows) + " x " + std::to_string(n.steps) + " x " +
                                std::to_string(n.columns) + ", transposed " + std::to_string(transposed);
      const Matrix<double> theirs = by_blas(left, right, transposed).template cast<double>();
      const Matrix<double> ours = of_our_own(left, right, transposed).template cast<double>();
      EXPECT_TRUE(near(theirs, expected, allowed)) << where;
      EXPECT_TRUE(near(theirs, ours, 2 * allowed)) << where;
    }
  }
}

TEST(Blas, AgreesWithOurOwnProducts) {
  check_products<float>();
  check_products<double>();
}

TEST(Blas, KeepsEmptyShapes) {
  EXPECT_EQ(by_blas(Matrix<double>(0, 7), random(7, 3, 1), 0).rows(), 0);
  EXPECT_EQ(by_blas(random(9, 7, 1), Matrix<double>(7, 0), 0).cols(), 0);
}

// The BLAS itself runs with one thread here: what it does with more is its own promise.
TEST(Blas, HasTheSameBitsForAnyNumberOfOurThreads) {
  const Matrix<float> a = random(300, 700, 3).cast<float>(), b = random(1000, 700, 4).cast<float>();
  const Matrix<float> serial = by_blas(a, b, 1);
  for (int threads : {2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(by_blas(a, b, 1, pool.executor()), serial) << threads << " threads";
  }
}

TEST(Blas, CarriesNaN) {
  Matrix<float> a = Matrix<float>::Ones(9, 20);
  const Matrix<float> b = Matrix<float>::Ones(20, 50);
  a(3, 4) = std::numeric_limits<float>::quiet_NaN();
  const Matrix<float> out = by_blas(a, b, 0);
  for (Index i = 0; i < 9; ++i)
    for (Index j = 0; j < 50; ++j) EXPECT_EQ(std::isnan(out(i, j)), i == 3) << i << ' ' << j;
}

}  // namespace
}  // namespace headwise::products
