// expect: satisfaction of 'BoolMatrix<|does not satisfy 'BoolMatrix'
// mask::Dense takes true and false; weights or biases do not turn into them.
#include <headwise/mask/dense.hpp>

int main() {
#ifdef HEADWISE_CONTROL
  using Entry = bool;
#else
  using Entry = float;
#endif
  (void)headwise::mask::Dense(headwise::Matrix<Entry>::Constant(4, 4, Entry(1)));
}
