// Dense products behind a plain C interface, for products.py. Matrices are row-major.
#include <headwise/core/product.hpp>
#include <headwise/core/thread_pool.hpp>

#include <memory>

using namespace headwise;

namespace {

using View = Eigen::Map<const Matrix<float>>;

std::unique_ptr<ThreadPool>& pool() {
  static std::unique_ptr<ThreadPool> threads;
  return threads;
}

Executor executor() { return pool() ? pool()->executor() : Executor(); }

}  // namespace

extern "C" {

void headwise_threads(int threads) { pool() = threads > 1 ? std::make_unique<ThreadPool>(threads) : nullptr; }

/// out [rows, columns] = a [rows, inner] b [inner, columns]
void headwise_multiply(const float* a, const float* b, float* out, long rows, long inner, long columns) {
  detail::multiply_into<float>(View(a, rows, inner), View(b, inner, columns),
                               Eigen::Map<Matrix<float>>(out, rows, columns), executor());
}
/// b is stored as [columns, inner].
void headwise_multiply_transposed(const float* a, const float* b, float* out, long rows, long inner,
                                  long columns) {
  detail::multiply_transposed_into<float>(View(a, rows, inner), View(b, columns, inner),
                                          Eigen::Map<Matrix<float>>(out, rows, columns), executor());
}
/// a is stored as [inner, rows].
void headwise_multiply_transposed_left(const float* a, const float* b, float* out, long rows, long inner,
                                       long columns) {
  detail::multiply_transposed_left_into<float>(View(a, inner, rows), View(b, inner, columns),
                                               Eigen::Map<Matrix<float>>(out, rows, columns), executor());
}

}  // extern "C"
