// expect: a matrix where a score belongs: write score::dense_bias.matrix.
// A matrix may be a view that must outlive the call; its wrapper says so.
#include <headwise/attention/attend.hpp>
#include <headwise/score/dense_bias.hpp>

int main() {
  const headwise::Matrix<float> x = headwise::Matrix<float>::Zero(4, 4);
  const headwise::AttendOptions options{.heads = 2};
#ifdef HEADWISE_CONTROL
  (void)headwise::attend_with_lse(x, x, x, options, headwise::mask::None{}, headwise::score::dense_bias(x));
#else
  (void)headwise::attend_with_lse(x, x, x, options, headwise::mask::None{}, x);
#endif
}
