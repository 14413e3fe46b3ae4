// expect: a mask where a score belongs: two masks are joined, write a && b
// A mask where the score belongs: two masks are joined by &&.
#include <headwise/attention/attend.hpp>
#include <headwise/mask/algebra.hpp>
#include <headwise/mask/causal.hpp>

int main() {
  const headwise::Matrix<float> x = headwise::Matrix<float>::Zero(4, 4);
#ifdef HEADWISE_CONTROL
  (void)headwise::attend(x, x, x, headwise::mask::Causal{} && headwise::mask::None{});
#else
  (void)headwise::attend(x, x, x, headwise::mask::Causal{}, headwise::mask::None{});
#endif
}
