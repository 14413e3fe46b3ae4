// Whether headwise::io brings what the headers of headwise/io need.
#include <nlohmann/json_fwd.hpp>

#include <cstdio>
#include <utf8proc.h>

int main() {
  const nlohmann::json* nothing = nullptr;
  if (nothing != nullptr || utf8proc_tolower(0xC4) != 0xE4) return 1;
  std::puts("io consumer: right");
}
