// expect: a score of numbers that this call cannot add: bools
// True and false are a mask; as an additive bias they would mean +1 and +0.
#include <headwise/attention/attend.hpp>
#include <headwise/score/dense_bias.hpp>

int main() {
#ifdef HEADWISE_CONTROL
  using Entry = float;
#else
  using Entry = bool;
#endif
  const headwise::Matrix<float> x = headwise::Matrix<float>::Zero(4, 4);
  const headwise::Matrix<Entry> table = headwise::Matrix<Entry>::Constant(4, 4, Entry(1));
  (void)headwise::attend(x, x, x, headwise::mask::None{}, headwise::score::DenseBias(table));
}
