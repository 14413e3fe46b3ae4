// The smallest program that shows whether the library was found, compiled and right.
#include <headwise/attention/attend.hpp>
#include <headwise/mask/causal.hpp>

#include <cmath>
#include <cstdio>

int main() {
  namespace hw = headwise;

  // Keys are zero, so each token takes the mean of the values up to its own: 1, 1.5, 2.
  const hw::Matrix<float> query = hw::Matrix<float>::Ones(3, 4);
  const hw::Matrix<float> key = hw::Matrix<float>::Zero(3, 4);
  hw::Matrix<float> value(3, 1);
  value << 1, 2, 3;

  const hw::Matrix<float> means = hw::attend(query, key, value, hw::mask::Causal{});

  for (hw::Index i = 0; i < 3; ++i) {
    if (!(std::abs(means(i, 0) - (1 + 0.5f * float(i))) < 1e-6f)) return 1;
  }
  std::puts("consumer: right");
}
