#include <headwise/core/dense_product.hpp>
#include <headwise/core/thread_pool.hpp>

#include <gtest/gtest.h>

#include "support/check.hpp"
#include "support/instruction_sets.hpp"
#include "support/reference.hpp"

#include <limits>
#include <string>
#include <vector>

namespace headwise {
namespace {

using check::random;
using detail::dense_product::Transposed;

/// Both factors and the result are blocks of wider matrices whose other numbers are NaN and must stay unread.
template <class Scalar>
struct Embedded {
  Matrix<Scalar> storage;
  Index rows, cols;

  explicit Embedded(const Matrix<double>& values)
      : storage(Matrix<Scalar>::Constant(values.rows() + 1, values.cols() + 3,
                                         std::numeric_limits<Scalar>::quiet_NaN())),
        rows(values.rows()),
        cols(values.cols()) {
    storage.topLeftCorner(rows, cols) = values.cast<Scalar>();
  }
};

template <class Scalar>
Matrix<double> product(const Matrix<double>& a, const Matrix<double>& b, Transposed transposed,
                       InstructionSet set, const Executor& executor = {}) {
  const Embedded<Scalar> left(a), right(b);
  const Index columns = transposed == Transposed::right ? b.rows() : b.cols();
  const Index rows = transposed == Transposed::left ? a.cols() : a.rows();
  const Index steps = transposed == Transposed::left ? a.rows() : a.cols();
  Matrix<Scalar> out = Matrix<Scalar>::Constant(rows, columns + 2, Scalar(7));
  detail::dense_product::run<Scalar>({{left.storage.data(), left.storage.cols()},
                                      {right.storage.data(), right.storage.cols()},
                                      transposed,
                                      rows,
                                      columns,
                                      steps,
                                      out.data(),
                                      out.cols()},
                                     executor, set);
  EXPECT_TRUE((out.rightCols(2).array() == Scalar(7)).all()) << "numbers beside the result were written";
  return out.leftCols(columns).template cast<double>();
}

struct Size {
  Index rows, steps, columns;
};

TEST(DenseProduct, IsTheSumOfProductsOnEveryInstructionSet) {
  for (const Size& n : {Size{1, 1, 1},
                        {2, 3, 5},
                        {5, 64, 49},
                        {6, 65, 48},
                        {8, 257, 96},
                        {63, 64, 65},
                        {770, 9, 50},
                        {9, 600, 47},
                        {65, 513, 49},
                        {1, 700, 65}}) {
    const Matrix<double> a = random(n.rows, n.steps, 1).cast<float>().cast<double>();
    const Matrix<double> b = random(n.steps, n.columns, 2).cast<float>().cast<double>();
    const Matrix<double> expected = reference::product(a, b);
    const Matrix<double> a_transposed = a.transpose(), b_transposed = b.transpose();
    for (InstructionSet set : check::instruction_sets()) {
      const std::string where = std::to_string(n.rows) + " x " + std::to_string(n.steps) + " x " +
                                std::to_string(n.columns) + ", " + name(set);
      const double steps = double(n.steps);
      const auto check_all = [&](auto scalar, double allowed) {
        using Scalar = decltype(scalar);
        EXPECT_TRUE(check::near(product<Scalar>(a, b, Transposed::none, set), expected, allowed)) << where;
        EXPECT_TRUE(check::near(product<Scalar>(a_transposed, b, Transposed::left, set), expected, allowed))
            << where << ", left factor transposed";
        EXPECT_TRUE(check::near(product<Scalar>(a, b_transposed, Transposed::right, set), expected, allowed))
            << where << ", right factor transposed";
      };
      check_all(double(), 1e-15 * steps);
      check_all(float(), 5e-7 * steps);
    }
  }
}

TEST(DenseProduct, HasTheSameBitsForAnyNumberOfThreads) {
  const Matrix<double> a = random(300, 200, 3), b = random(1000, 200, 4);
  const Matrix<double> a_transposed = a.transpose(), b_transposed = b.transpose();
  const InstructionSet set = choose_instruction_set();
  const Matrix<double> serial = product<float>(a, b, Transposed::right, set);
  const Matrix<double> serial_left = product<float>(a_transposed, b_transposed, Transposed::left, set);
  for (int threads : {2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(product<float>(a, b, Transposed::right, set, pool.executor()), serial) << threads << " threads";
    EXPECT_EQ(product<float>(a_transposed, b_transposed, Transposed::left, set, pool.executor()), serial_left)
        << threads << " threads, left factor transposed";
  }
}

TEST(DenseProduct, CarriesNaNAndInfinity) {
  Matrix<double> a = Matrix<double>::Ones(9, 20), b = Matrix<double>::Ones(20, 50);
  a(3, 4) = std::numeric_limits<double>::quiet_NaN();
  b(7, 11) = std::numeric_limits<double>::infinity();
  const Matrix<double> out = product<float>(a, b, Transposed::none, choose_instruction_set());
  for (Index i = 0; i < 9; ++i) {
    for (Index j = 0; j < 50; ++j) {
      if (i == 3) {
        EXPECT_TRUE(std::isnan(out(i, j)));
      } else {
        EXPECT_EQ(std::isinf(out(i, j)), j == 11) << i << ' ' << j;
      }
    }
  }
}

}  // namespace
}  // namespace headwise
