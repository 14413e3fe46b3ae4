// expect: no score: a score is one of score::
// A score computes in the scalar of the call; a double among floats would be narrowed at each pair.
#include <headwise/attention/attend.hpp>

int main() {
#ifdef HEADWISE_CONTROL
  using Answer = float;
#else
  using Answer = double;
#endif
  const headwise::Matrix<float> x = headwise::Matrix<float>::Zero(4, 4);
  (void)headwise::attend(
      x, x, x, headwise::mask::None{},
      [](float s, headwise::Position, headwise::Position) { return Answer(s) * Answer(0.5); });
}
