#include "report/palette.hpp"

#include <stdexcept>

namespace headwise::report {

std::string_view palette_css() {
  return R"(:root{color-scheme:light dark;--paper:#fdfdfb;--ink:#22272b;--soft:#5b646b;--faint:#d4d8da;
--see:#2c5f7c;--hide:#e9edef;--c0:#0072b2;--c1:#c14d00;--c2:#00805c;--c3:#b0568c;--c4:#8a6d00;--c5:#5b646b}
@media (prefers-color-scheme:dark){:root{--paper:#16191b;--ink:#e4e7e9;--soft:#a3adb4;--faint:#3a4146;
--see:#7fb8d6;--hide:#262b2f;--c0:#56b4e9;--c1:#f28e4b;--c2:#3cc9a0;--c3:#e39cc6;--c4:#e5c652;--c5:#a3adb4}}
)";
}

std::string standalone(std::string_view svg) {
  constexpr std::string_view opening = "<svg ";
  const std::size_t end = svg.find('>');
  if (!svg.starts_with(opening) || end == std::string_view::npos) {
    throw std::invalid_argument("standalone: expected a drawing that begins with <svg");
  }
  std::string file = R"(<svg xmlns="http://www.w3.org/2000/svg" )";
  file.append(svg.substr(opening.size(), end + 1 - opening.size()));
  file.append("<style>").append(palette_css()).append("svg{background:var(--paper)}</style>");
  file.append(svg.substr(end + 1)).append("\n");
  return file;
}

}  // namespace headwise::report
