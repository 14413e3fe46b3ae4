// The smallest program that shows whether the library was found, compiled and right.
#include <headwise/mask/causal.hpp>

#include <cstdio>

int main() {
  constexpr headwise::mask::Causal causal;
  if (!causal.allows(1, 0) || causal.allows(0, 1)) return 1;
  std::puts("consumer: right");
}
