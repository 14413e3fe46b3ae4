// expect: satisfaction of 'CallableMask<|does not satisfy 'CallableMask'
// mask::where asks for exactly bool: 0 and 1 are numbers.
#include <headwise/mask/where.hpp>

int main() {
#ifdef HEADWISE_CONTROL
  using Answer = bool;
#else
  using Answer = int;
#endif
  (void)headwise::mask::where(
      [](headwise::Index query, headwise::Index key) { return Answer(key <= query); });
}
