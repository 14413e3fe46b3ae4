// expect: a score where a mask belongs: the mask comes first
// A score where the mask belongs: the order of the arguments is mask, score.
#include <headwise/attention/attend.hpp>
#include <headwise/score/soft_cap.hpp>

int main() {
  const headwise::Matrix<float> x = headwise::Matrix<float>::Zero(4, 4);
#ifdef HEADWISE_CONTROL
  (void)headwise::attend(x, x, x, headwise::mask::None{}, headwise::score::SoftCap{.limit = 30});
#else
  (void)headwise::attend(x, x, x, headwise::score::SoftCap{.limit = 30});
#endif
}
