#pragma once

#include <headwise/io/mapped_file.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>

namespace headwise::io {

/// Something that the JSON parser met.
struct JsonEvent {
  using Kind = nlohmann::json::parse_event_t;

  Kind kind;
  int depth;              ///< 0 for the outermost value
  nlohmann::json& value;  ///< the key or value that has just been read
  std::uint64_t byte;     ///< of the file: all before it has been read
};

/// A value as an error message shows it.
inline std::string json_in_words(const nlohmann::json& value) {
  if (value.is_string()) return in_quotes(value.get_ref<const std::string&>());
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_unsigned()) return std::to_string(value.get<std::uint64_t>());
  if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
  if (value.is_number()) return std::to_string(value.get<double>());
  return value.is_object() ? "an object" : value.is_array() ? "an array" : "null";
}

namespace detail {

/// An iterator over text that leaves its position where others see it. One type for all JSON that is read, so
/// that the parser is compiled once a file.
struct TracedCursor {
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  using iterator_category = std::input_iterator_tag;

  const char* at = nullptr;
  const char** position = nullptr;

  reference operator*() const { return *at; }
  TracedCursor& operator++() {
    *position = ++at;
    return *this;
  }
  friend bool operator==(const TracedCursor& a, const TracedCursor& b) { return a.at == b.at; }
  friend bool operator!=(const TracedCursor& a, const TracedCursor& b) { return a.at != b.at; }
};

}  // namespace detail

/// Parses JSON that begins at byte `offset` of a file, showing each event to visit(event): false drops the
/// value. What visit throws passes through: so text is refused before anything is built from it, whatever its
/// size. Throws FormatError, naming the byte, for what is not JSON in UTF-8.
inline nlohmann::json parse_json(std::string_view text, std::uint64_t offset, const std::string& file,
                                 const std::function<bool(const JsonEvent&)>& visit) {
  // The parser would take a NUL for the end, and never see what hides behind it.
  if (const auto nul = text.find('\0'); nul != text.npos) {
    fail_format(file, "byte " + std::to_string(offset + nul), "is NUL, expected JSON; padding is spaces");
  }
  const char* position = text.data();
  const auto read = [&] { return offset + std::uint64_t(position - text.data()); };
  const auto show = [&](int depth, JsonEvent::Kind kind, nlohmann::json& value) {
    return visit({kind, depth, value, read()});
  };
  const detail::TracedCursor begin{text.data(), &position}, end{text.data() + text.size(), &position};
  try {
    return nlohmann::json::parse(begin, end, show);
  } catch (const nlohmann::json::parse_error&) {
    fail_format(file, "text before byte " + std::to_string(read()), "is not JSON in UTF-8");
  } catch (const nlohmann::json::out_of_range&) {
    fail_format(file, "text before byte " + std::to_string(read()), "is a number beyond every double");
  }
}

}  // namespace headwise::io
