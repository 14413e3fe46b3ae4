// Whether headwise::io brings what the headers of headwise/io need.
#include <nlohmann/json.hpp>

#include <cstdio>
#include <utf8proc.h>

int main() {
  if (nlohmann::json::parse("[1]").size() != 1 || utf8proc_tolower(0xC4) != 0xE4) return 1;
  std::puts("io consumer: right");
}
