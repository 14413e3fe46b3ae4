// expect: query, key and value have one scalar type
// Query, key and value compute in one scalar type; nothing is converted in silence.
#include <headwise/attention/attend.hpp>

int main() {
#ifdef HEADWISE_CONTROL
  using KeyScalar = float;
#else
  using KeyScalar = double;
#endif
  const headwise::Matrix<float> query = headwise::Matrix<float>::Zero(4, 4);
  const headwise::Matrix<KeyScalar> key = headwise::Matrix<KeyScalar>::Zero(4, 4);
  (void)headwise::attend(query, key, query);
}
