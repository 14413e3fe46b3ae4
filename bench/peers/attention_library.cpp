// Attention behind a plain C interface, for the Python scripts beside this file. Matrices are row-major
// [tokens, heads * head_dim]; mask: 0 none, 1 causal, w > 1 causal with a window of w keys.
#include <headwise/attention/attend.hpp>
#include <headwise/attention/attend_backward.hpp>
#include <headwise/core/product.hpp>
#include <headwise/core/thread_pool.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/sliding_window.hpp>

#include <cstddef>
#include <memory>

using namespace headwise;

namespace {

template <class Scalar>
using View = Eigen::Map<const Matrix<Scalar>>;

struct Sizes {
  long q_len, k_len, heads, kv_heads, head_dim, mask;
};

std::unique_ptr<ThreadPool>& pool() {
  static std::unique_ptr<ThreadPool> threads;
  return threads;
}

AttendOptions options_of(const Sizes& sizes) {
  AttendOptions options{.heads = sizes.heads, .kv_heads = sizes.kv_heads};
  if (sizes.mask > 0) options.query_offset = sizes.k_len - sizes.q_len;
  if (pool()) options.executor = pool()->executor();
  return options;
}

/// visit(mask) with the mask that the number says.
template <class Visit>
auto with_mask(long mask, Visit&& visit) {
  if (mask == 0) return visit(mask::None{});
  if (mask == 1) return visit(mask::Causal{});
  return visit(mask::SlidingWindow{mask});
}

template <class Scalar>
struct Call {
  View<Scalar> query, key, value;

  Call(const Scalar* q, const Scalar* k, const Scalar* v, const Sizes& s)
      : query(q, s.q_len, s.heads * s.head_dim),
        key(k, s.k_len, s.kv_heads * s.head_dim),
        value(v, s.k_len, s.kv_heads * s.head_dim) {}
};

template <class Scalar>
Attended<Scalar>& last() {
  static Attended<Scalar> attended;
  return attended;
}

template <class Scalar>
void forward(const Scalar* q, const Scalar* k, const Scalar* v, Scalar* output, const Sizes& sizes) {
  const Call<Scalar> call(q, k, v, sizes);
  last<Scalar>() = with_mask(sizes.mask, [&](const auto& mask) {
    return attend_with_lse(call.query, call.key, call.value, options_of(sizes), mask);
  });
  if (output != nullptr)
    Eigen::Map<Matrix<Scalar>>(output, sizes.q_len, sizes.heads * sizes.head_dim) = last<Scalar>().output;
}

/// The gradient of the last forward call of the same scalar.
template <class Scalar>
void backward(const Scalar* q, const Scalar* k, const Scalar* v, const Scalar* d_output, Scalar* d_query,
              const Sizes& sizes) {
  const Call<Scalar> call(q, k, v, sizes);
  const View<Scalar> d(d_output, sizes.q_len, sizes.heads * sizes.head_dim);
  const auto gradients = with_mask(sizes.mask, [&](const auto& mask) {
    return attend_backward(call.query, call.key, call.value, last<Scalar>(), d, options_of(sizes), mask);
  });
  if (d_query != nullptr) Eigen::Map<Matrix<Scalar>>(d_query, d.rows(), d.cols()) = gradients.query;
}

}  // namespace

extern "C" {

void headwise_threads(int threads) { pool() = threads > 1 ? std::make_unique<ThreadPool>(threads) : nullptr; }
void headwise_forward(const float* q, const float* k, const float* v, float* output, const Sizes* sizes) {
  forward(q, k, v, output, *sizes);
}
void headwise_forward_double(const double* q, const double* k, const double* v, double* output,
                             const Sizes* sizes) {
  forward(q, k, v, output, *sizes);
}
void headwise_backward(const float* q, const float* k, const float* v, const float* d_output, float* d_query,
                       const Sizes* sizes) {
  backward(q, k, v, d_output, d_query, *sizes);
}

void headwise_multiply_transposed(const float* a, const float* b, float* out, long rows, long inner, long columns) {
  detail::multiply_transposed_into<float>(View<float>(a, rows, inner), View<float>(b, columns, inner),
                                          Eigen::Map<Matrix<float>>(out, rows, columns),
                                          pool() ? pool()->executor() : Executor());
}

}  // extern "C"
