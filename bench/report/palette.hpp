#pragma once

#include <string>
#include <string_view>

namespace headwise::report {

/// The colours of all pictures as CSS variables, in a light and a dark scheme: --ink, --faint, --see, --hide
/// and the series --c0 to --c5. The series are the hues of Okabe and Ito, which stay apart for colour-blind
/// readers.
std::string_view palette_css();

/// An inline drawing as a file of its own: names its format and carries its palette.
std::string standalone(std::string_view svg);

}  // namespace headwise::report
