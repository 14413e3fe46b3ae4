// What accuracy.py calls: attention_library.cpp, and all three gradients of the last forward call.
#include "attention_library.cpp"

extern "C" void headwise_gradients(const float* q, const float* k, const float* v, const float* d_output,
                                   float* d_query, float* d_key, float* d_value, const Sizes* sizes) {
  const Call<float> call(q, k, v, *sizes);
  const View<float> d(d_output, sizes->q_len, sizes->heads * sizes->head_dim);
  const auto gradients = with_mask(sizes->mask, [&](const auto& mask) {
    return attend_backward(call.query, call.key, call.value, last<float>(), d, options_of(*sizes), mask);
  });
  const auto copy = [](const Matrix<float>& from, float* to) {
    Eigen::Map<Matrix<float>>(to, from.rows(), from.cols()) = from;
  };
  copy(gradients.query, d_query);
  copy(gradients.key, d_key);
  copy(gradients.value, d_value);
}
