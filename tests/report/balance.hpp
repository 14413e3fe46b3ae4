#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headwise::report {

/// Reads markup tag by tag. Returns "" when every element is closed in the reverse order of opening and no
/// stray bracket stands in text or attributes, else what is wrong.
inline std::string imbalance(std::string_view markup) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < markup.size();) {
    if (markup[at] == '>') return "a stray > at byte " + std::to_string(at);
    if (markup[at] != '<') {
      ++at;
      continue;
    }
    const std::size_t end = markup.find('>', at);
    if (end == std::string_view::npos) return "a tag without end at byte " + std::to_string(at);
    const std::string_view tag = markup.substr(at + 1, end - at - 1);
    at = end + 1;
    if (tag.empty() || tag.find('<') != std::string_view::npos) return "a stray <: " + std::string(tag);
    const std::string name(tag.substr(0, tag.find_first_of(" \n/", 1)));
    if (name == "!doctype" || name == "meta" || tag.back() == '/') continue;
    if (name.front() == '/') {
      if (open.empty() || "/" + open.back() != name)
        return "<" + name + "> closes <" + (open.empty() ? "" : open.back()) + ">";
      open.pop_back();
      continue;
    }
    open.push_back(name);
    if (name != "style") continue;
    at = markup.find("</style>", at);  // a style sheet is no markup
    if (at == std::string_view::npos) return "<style> without end";
  }
  return open.empty() ? "" : "<" + open.back() + "> is never closed";
}

}  // namespace headwise::report
