#pragma once

#include <string>
#include <string_view>

namespace headwise::report {

/// Text as it may stand between tags and in quoted attributes.
std::string escape(std::string_view text);

/// <name attributes>inside</name>; attributes and inside are markup already.
std::string element(std::string_view name, std::string_view attributes, std::string_view inside);

/// <p>text</p>, escaped, powers raised.
std::string paragraph(std::string_view text);

/// A picture with its caption: `drawing` is markup that describes itself to screen readers.
std::string figure(std::string_view drawing, std::string_view caption_markup,
                   std::string_view css_class = "");

/// Escaped text whose powers are raised: "L^1.98" and "L^(1.98 ± 0.01)" become L with the exponent above it.
std::string with_raised_powers(std::string_view text);

}  // namespace headwise::report
