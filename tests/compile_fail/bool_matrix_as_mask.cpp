// expect: a matrix of bools where a mask belongs: write mask::Dense.matrix.
// A matrix of bools goes by rows, which its wrapper says.
#include <headwise/attention/attend.hpp>
#include <headwise/mask/dense.hpp>

int main() {
  const headwise::Matrix<float> x = headwise::Matrix<float>::Zero(4, 4);
  const headwise::Matrix<bool> seen = headwise::Matrix<bool>::Constant(4, 4, true);
#ifdef HEADWISE_CONTROL
  (void)headwise::attend(x, x, x, {.heads = 2}, headwise::mask::Dense(seen));
#else
  (void)headwise::attend(x, x, x, {.heads = 2}, seen);
#endif
}
