// expect: query, key and value are floating-point or complex matrices, and one is not: write
// Attention is about real numbers: a softmax of integers has no meaning.
#include <headwise/attention/attend.hpp>

int main() {
#ifdef HEADWISE_CONTROL
  using Scalar = double;
#else
  using Scalar = int;
#endif
  const headwise::Matrix<Scalar> x = headwise::Matrix<Scalar>::Zero(4, 4);
  (void)headwise::attend(x, x, x);
}
