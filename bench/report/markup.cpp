#include "report/markup.hpp"

#include <algorithm>

namespace headwise::report {

std::string escape(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    switch (c) {
      case ' ':
        safe += text.substr(i + 1, 1) == "%" ? "&nbsp;" : " ";  // a number and its per cent stay on one line
        break;
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string element(std::string_view name, std::string_view attributes, std::string_view inside) {
  std::string markup = "<";
  markup.append(name);
  if (!attributes.empty()) markup.append(" ").append(attributes);
  markup.append(">").append(inside).append("</").append(name).append(">");
  return markup;
}

std::string paragraph(std::string_view text) { return element("p", "", with_raised_powers(text)) + "\n"; }

std::string figure(std::string_view drawing, std::string_view caption_markup, std::string_view css_class) {
  std::string attributes;
  if (!css_class.empty()) attributes.append("class=\"").append(css_class).append("\"");
  std::string inside(drawing);
  inside.append(element("figcaption", "", caption_markup));
  return element("figure", attributes, inside) + "\n";
}

std::string with_raised_powers(std::string_view text) {
  std::string markup;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t power = text.find('^', at);
    markup += escape(text.substr(at, power - at));
    if (power == std::string_view::npos) break;
    const bool bracketed = text.substr(power + 1, 1) == "(";
    const std::size_t begin = power + (bracketed ? 2 : 1);
    std::size_t end = bracketed ? text.find(')', begin) : text.find_first_not_of("0123456789.", begin);
    end = std::min(end, text.size());
    if (!bracketed && end > begin && text[end - 1] == '.') --end;  // the full stop of a sentence
    markup += element("sup", "", escape(text.substr(begin, end - begin)));
    at = bracketed ? end + 1 : end;
  }
  return markup;
}

}  // namespace headwise::report
