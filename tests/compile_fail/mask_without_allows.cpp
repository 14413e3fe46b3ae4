// expect: no mask: a mask has `bool allows.query, key.`
// A mask is whatever has `allows(query, key)`.
#include <headwise/attention/attend.hpp>

struct Window {
#ifdef HEADWISE_CONTROL
  bool allows(headwise::Index query, headwise::Index key) const { return query - key < 8; }
#else
  bool sees(headwise::Index query, headwise::Index key) const { return query - key < 8; }
#endif
};

int main() {
  const headwise::Matrix<float> x = headwise::Matrix<float>::Zero(4, 4);
  (void)headwise::attend(x, x, x, Window{});
}
