// expect: no mask: a mask has `bool allows.query, key.`
// A callable that returns a number is a score or a bias; a mask answers yes or no.
#include <headwise/attention/attend.hpp>

int main() {
#ifdef HEADWISE_CONTROL
  using Answer = bool;
#else
  using Answer = float;
#endif
  const headwise::Matrix<float> x = headwise::Matrix<float>::Zero(4, 4);
  (void)headwise::attend(x, x, x,
                         [](headwise::Index query, headwise::Index key) { return Answer(key <= query); });
}
