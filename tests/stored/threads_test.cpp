#include <headwise/core/random.hpp>
#include <headwise/core/thread_pool.hpp>
#include <headwise/stored/product.hpp>

#include <gtest/gtest.h>

#include <atomic>

namespace headwise::stored::threads_test {
namespace {

/// Long enough for few rows, and wide enough for many, to be shared.
Weight weight_in(Format format) {
  Rng rng(3);
  return Weight::rounded(normal(6161, 576, 1.0f, rng), format);
}

/// Runs serially, and counts the parts.
struct Counted {
  std::atomic<Index> parts{0};

  Executor executor() {
    return {this, [](void* self, Index n, void* state, Executor::Body body) {
              static_cast<Counted*>(self)->parts += n;
              for (Index i = 0; i < n; ++i) body(state, i);
            }};
  }
};

TEST(StoredThreads, GiveTheSameBitsForAnyNumberOfThem) {
  Rng rng(4);
  for (const Format format : {Format::f32, Format::bf16, Format::q8_0, Format::q4_1}) {
    const Weight weight = weight_in(format);
    const Matrix<float> bias = normal(1, weight.rows(), 1.0f, rng);
    for (const Index n : {1, 3, 16, 17, 65}) {
      const Matrix<float> x = normal(n, 576, 1.0f, rng);
      const Matrix<float> serial = multiply_transposed(x, weight), shifted = affine(x, weight, bias);
      for (const int threads : {1, 2, 3, 8}) {
        ThreadPool pool(threads);
        EXPECT_EQ(multiply_transposed(x, weight, pool.executor()), serial) << facts(format).name << " " << n;
        EXPECT_EQ(affine(x, weight, bias, pool.executor()), shifted) << facts(format).name << " " << n;
      }
    }
  }
}

TEST(StoredThreads, ShareWhatIsWorthIt) {
  Rng rng(5);
  const auto parts = [&](Index rows, Index cols, Index n) {
    Counted counted;
    const Weight weight = Weight::rounded(normal(rows, cols, 1.0f, rng), Format::q8_0);
    (void)multiply_transposed(normal(n, cols, 1.0f, rng), weight, counted.executor());
    return counted.parts.load();
  };
  EXPECT_EQ(parts(192, 576, 1), 0);  // one part runs where it is: ten microseconds
  EXPECT_EQ(parts(576, 576, 1), 2);  // of a hundred and fifty thousand numbers and more
  EXPECT_GE(parts(192, 576, 16), 2);
  EXPECT_EQ(parts(16, 576, 65), 0);    // one panel
  EXPECT_EQ(parts(192, 576, 65), 2);   // twelve
  EXPECT_EQ(parts(1536, 576, 65), 6);  // ninety-six
}

TEST(StoredThreads, ShareSeveralProductsInOneRound) {
  Rng rng(6);
  const auto weight = [&](Index rows, Format format) {
    return Weight::rounded(normal(rows, 576, 1.0f, rng), format);
  };
  const Weight a = weight(576, Format::q4_1), b = weight(192, Format::q8_0), c = weight(200, Format::f32);
  const Weight zeros = Weight::zeros(48, 576);
  for (const Index n : {1, 4, 17, 65}) {
    const Matrix<float> x = normal(n, 576, 1.0f, rng);
    for (const int threads : {1, 2, 3, 8}) {
      ThreadPool pool(threads);
      const auto each = multiply_transposed_each(x, pool.executor(), a, b, zeros, c);
      EXPECT_EQ(each[0], multiply_transposed(x, a)) << n;
      EXPECT_EQ(each[1], multiply_transposed(x, b)) << n;
      EXPECT_EQ(each[2], (Matrix<float>::Zero(n, 48))) << n;
      EXPECT_EQ(each[3], multiply_transposed(x, c)) << n;
    }
  }
  Counted counted;
  (void)multiply_transposed_each(normal(1, 576, 1.0f, rng), counted.executor(), a, b, c);
  EXPECT_EQ(counted.parts, 4);
  EXPECT_THROW((void)multiply_transposed_each(normal(1, 32, 1.0f, rng), {}, a, b), ShapeError);
}

TEST(StoredThreads, NothingIsDoneForNothing) {
  ThreadPool pool(2);
  EXPECT_EQ(multiply_transposed(Matrix<float>(0, 32), Weight::zeros(48, 32), pool.executor()).size(), 0);
  const Matrix<float> zeros =
      multiply_transposed(Matrix<float>::Ones(20, 32), Weight::zeros(48, 32), pool.executor());
  EXPECT_EQ(zeros, (Matrix<float>::Zero(20, 48)));
}

}  // namespace
}  // namespace headwise::stored::threads_test
