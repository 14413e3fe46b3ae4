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
  EXPECT_EQ(parts(192, 576, 1), 0);   // one part runs where it is: twenty microseconds
  EXPECT_GE(parts(6161, 576, 1), 2);  // of two million numbers and more
  EXPECT_GE(parts(576, 576, 16), 2);
  EXPECT_EQ(parts(16, 576, 65), 0);    // one panel
  EXPECT_EQ(parts(192, 576, 65), 2);   // twelve
  EXPECT_EQ(parts(1536, 576, 65), 6);  // ninety-six
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
