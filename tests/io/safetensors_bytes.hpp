#pragma once

#include <headwise/io/safetensors.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

/// Files put together byte by byte, so that tests can say what no writer would.
namespace headwise::check {

using Bytes = std::vector<std::byte>;

/// A file whose length field says `length`, whatever follows.
inline Bytes file_claiming(std::uint64_t length, std::string_view header, std::string_view data = {}) {
  Bytes bytes(8);
  std::memcpy(bytes.data(), &length, 8);
  for (char c : header) bytes.push_back(std::byte(c));
  for (char c : data) bytes.push_back(std::byte(c));
  return bytes;
}

inline Bytes file_of(std::string_view header, std::string_view data = {}) {
  return file_claiming(header.size(), header, data);
}

/// Zeros as data.
inline Bytes file_of(std::string_view header, std::size_t data_size) {
  return file_of(header, std::string(data_size, '\0'));
}

/// Why a file is refused, or that it is not.
inline std::string refusal(const Bytes& bytes) {
  try {
    (void)io::SafeTensors::view(bytes, "file");
  } catch (const FormatError& error) {
    return error.what();
  }
  return "(accepted)";
}

}  // namespace headwise::check
