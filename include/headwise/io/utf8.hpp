#pragma once

#include <string_view>
#include <utf8proc.h>

namespace headwise::io::detail {

/// True for text that is well-formed UTF-8: no surrogates, no longer form than needed, nothing above U+10FFFF.
inline bool is_utf8(std::string_view text) noexcept {
  const auto* at = static_cast<const utf8proc_uint8_t*>(static_cast<const void*>(text.data()));
  const utf8proc_uint8_t* const end = at + text.size();
  while (at != end) {
    if (*at < 0x80) {
      ++at;
      continue;
    }
    utf8proc_int32_t point = 0;
    const utf8proc_ssize_t length = utf8proc_iterate(at, end - at, &point);
    if (length <= 0) return false;
    at += length;
  }
  return true;
}

}  // namespace headwise::io::detail
