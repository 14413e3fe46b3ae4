#pragma once

#include <headwise/io/gguf.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

/// GGUF files written by hand, byte by byte, for tests of the reader.
namespace headwise::check {

/// A file in the making: counts and all else are as the test says, whether or not they are true.
class GgufBytes {
 public:
  template <class Number>
  GgufBytes& number(Number value) {
    const auto* const from = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof value);
    return *this;
  }
  GgufBytes& raw(std::string_view text) {
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
    return *this;
  }
  GgufBytes& text(std::string_view value) { return number(std::uint64_t(value.size())).raw(value); }

  /// 24 bytes.
  GgufBytes& header(std::uint64_t tensors, std::uint64_t values, std::uint32_t version = 3) {
    return raw("GGUF").number(version).number(tensors).number(values);
  }
  template <class Number>
  GgufBytes& entry(std::string_view key, std::uint32_t type, Number value) {
    return text(key).number(type).number(value);
  }
  GgufBytes& text_entry(std::string_view key, std::string_view value) {
    return text(key).number(std::uint32_t(8)).text(value);
  }
  GgufBytes& texts_entry(std::string_view key, const std::vector<std::string>& values) {
    text(key).number(std::uint32_t(9)).number(std::uint32_t(8)).number(std::uint64_t(values.size()));
    for (const std::string& value : values) text(value);
    return *this;
  }
  template <class Number>
  GgufBytes& numbers_entry(std::string_view key, std::uint32_t type, const std::vector<Number>& values) {
    text(key).number(std::uint32_t(9)).number(type).number(std::uint64_t(values.size()));
    for (const Number value : values) number(value);
    return *this;
  }
  /// Dimensions innermost first, as the file has them.
  GgufBytes& tensor(std::string_view name, const std::vector<std::uint64_t>& dims, std::uint32_t type,
                    std::uint64_t offset) {
    text(name).number(std::uint32_t(dims.size()));
    for (const std::uint64_t dim : dims) number(dim);
    return number(type).number(offset);
  }
  GgufBytes& pad(std::size_t alignment = 32) {
    while (bytes_.size() % alignment != 0) bytes_.push_back(std::byte(0));
    return *this;
  }
  GgufBytes& zeros(std::size_t count) {
    bytes_.resize(bytes_.size() + count);
    return *this;
  }

  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }
  std::size_t size() const noexcept { return bytes_.size(); }
  /// A view: these bytes must outlive it.
  io::Gguf open() const { return io::Gguf::view(bytes_, "file"); }

  /// Why the reader refuses it.
  std::string refusal() const {
    try {
      (void)open();
    } catch (const FormatError& error) {
      return error.what();
    }
    return "(accepted)";
  }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace headwise::check
