#include "report/markup.hpp"

namespace headwise::report {

std::string escape(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (char c : text) {
    switch (c) {
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

std::string paragraph(std::string_view text) { return element("p", "", escape(text)) + "\n"; }

std::string figure(std::string_view drawing, std::string_view caption_markup, std::string_view css_class) {
  std::string attributes;
  if (!css_class.empty()) attributes.append("class=\"").append(css_class).append("\"");
  std::string inside(drawing);
  inside.append(element("figcaption", "", caption_markup));
  return element("figure", attributes, inside) + "\n";
}

std::string raised(std::string_view base, std::string_view exponent) {
  return escape(base) + element("sup", "", escape(exponent));
}

}  // namespace headwise::report
