// expect: a matrix of numbers where a mask belongs: it is an additive bias
// A matrix of numbers is an additive bias, hence a score, and never a mask.
#include <headwise/attention/attend.hpp>
#include <headwise/mask/dense.hpp>

int main() {
  const headwise::Matrix<float> x = headwise::Matrix<float>::Zero(4, 4);
#ifdef HEADWISE_CONTROL
  const headwise::mask::Dense mask(headwise::Matrix<bool>::Constant(4, 4, true));
#else
  const headwise::Matrix<float> mask = headwise::Matrix<float>::Zero(4, 4);
#endif
  (void)headwise::attend(x, x, x, mask);
}
