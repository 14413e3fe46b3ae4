#pragma once

#include <headwise/io/gguf_header.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headwise::io {

/// A GGUF file, open for reading: a model's tensors, plain or quantised, its settings and its vocabulary.
///
///     'GGUF'   |   version, counts   |   {key: value}   |   {name: shape, type, offset}   |   the numbers
///
/// The file is mapped, so opening reads the header only. The whole layout is checked on opening: afterwards
/// no read can leave the file. Throws FormatError naming file, tensor or key, and byte for whatever is not as
/// the format says. Format: ggml, docs/gguf.md, https://github.com/ggml-org/ggml.
class Gguf {
 public:
  /// Opens a file.
  explicit Gguf(std::string path) : mapping_(std::in_place, std::move(path)) {
    file_ = mapping_->path();
    bytes_ = mapping_->bytes();
    header_ = read_gguf_header(mapping_->text(), file_);
  }

  /// Reads a file that is in memory already; `file` names it in errors, and the bytes must outlive the
  /// result.
  static Gguf view(std::span<const std::byte> bytes, std::string file) {
    Gguf gguf;
    gguf.file_ = std::move(file);
    gguf.bytes_ = bytes;
    const std::string_view text(static_cast<const char*>(static_cast<const void*>(bytes.data())),
                                bytes.size());
    gguf.header_ = read_gguf_header(text, gguf.file_);
    return gguf;
  }

  /// The path, or the name given to `view`.
  const std::string& file() const noexcept { return file_; }

  // ---- Tensors -------------------------------------------------------------------------------------------

  const auto& tensors() const noexcept { return header_.tensors; }
  bool contains(std::string_view name) const { return header_.tensors.contains(name); }

  /// Format, shape and place of a tensor. Throws FormatError when there is none of that name.
  const GgufTensor& info(std::string_view name) const {
    const auto found = header_.tensors.find(name);
    if (found == header_.tensors.end()) {
      fail_format(file_, "tensor " + in_quotes(name),
                  "is missing among the " + std::to_string(header_.tensors.size()) + " tensors of the file");
    }
    return found->second;
  }

  /// The numbers of a tensor as they are stored. The span lives as long as the file is open.
  std::span<const std::byte> bytes(std::string_view name) const {
    const GgufTensor& tensor = info(name);
    return bytes_.subspan(std::size_t(tensor.begin), std::size_t(tensor.end - tensor.begin));
  }

  /// A tensor -> [rows, cols], dequantised in float, then converted to Scalar; GgufTensor says how a tensor
  /// of any rank is a matrix. Throws FormatError when there is none of that name.
  template <class Scalar>
  Matrix<Scalar> matrix(std::string_view name) const {
    const GgufTensor& tensor = info(name);
    const std::byte* const from = bytes(name).data();
    Matrix<Scalar> result(tensor.rows, tensor.cols);
    if (result.size() == 0) return result;  // however many rows of nothing
    if constexpr (std::same_as<Scalar, float>) {
      stored::decode(tensor.format, from, result.size(), result.data());
    } else {
      std::vector<float> row(std::size_t(tensor.cols), 0);
      const std::size_t row_bytes = stored::bytes_of(tensor.format, tensor.cols);
      for (Index i = 0; i < tensor.rows; ++i) {
        stored::decode(tensor.format, from + std::size_t(i) * row_bytes, tensor.cols, row.data());
        for (Index j = 0; j < tensor.cols; ++j) result(i, j) = Scalar(row[std::size_t(j)]);
      }
    }
    return result;
  }

  // ---- Metadata ------------------------------------------------------------------------------------------
  //
  // Every question names a key; the answer is of its kind, or the default given, or a FormatError that names
  // file, key, byte, what was found and what was expected.

  const auto& metadata() const noexcept { return header_.metadata; }
  bool has(std::string_view key) const { return header_.metadata.contains(key); }

  /// A whole number of any width, up to 2^63 - 1.
  Index integer(std::string_view key) const { return whole(key, require(key, "an integer"), 0); }
  Index integer(std::string_view key, Index otherwise) const { return has(key) ? integer(key) : otherwise; }

  /// FLOAT32, FLOAT64 or any integer.
  double number(std::string_view key) const {
    const GgufValue& value = require(key, "a number");
    if (value.type == GgufType::f32) return double(at<float>(value, 0));
    if (value.type == GgufType::f64) return at<double>(value, 0);
    return double(whole(key, value, 0, "a number"));
  }
  double number(std::string_view key, double otherwise) const { return has(key) ? number(key) : otherwise; }

  bool boolean(std::string_view key) const {
    const GgufValue& value = require(key, "BOOL");
    if (value.type != GgufType::boolean) fail(key, value, "BOOL");
    return at<std::uint8_t>(value, 0) != 0;
  }
  bool boolean(std::string_view key, bool otherwise) const { return has(key) ? boolean(key) : otherwise; }

  /// UTF-8. The view lives as long as the file is open.
  std::string_view text(std::string_view key) const {
    const GgufValue& value = require(key, "STRING");
    if (value.type != GgufType::text) fail(key, value, "STRING");
    return text_at(value.begin);
  }
  std::string_view text(std::string_view key, std::string_view otherwise) const {
    return has(key) ? text(key) : otherwise;
  }

  std::vector<std::string_view> texts(std::string_view key) const {
    const GgufValue& value = require(key, "an array of STRING");
    if (value.type != GgufType::array || value.element != GgufType::text)
      fail(key, value, "an array of STRING");
    std::vector<std::string_view> result;
    std::uint64_t begin = value.begin;
    for (std::uint64_t i = 0; i < value.count; ++i) {
      result.push_back(text_at(begin));
      begin += 8 + result.back().size();
    }
    return result;
  }

  std::vector<Index> integers(std::string_view key) const {
    const GgufValue& value = require(key, "an array of integers");
    if (value.type != GgufType::array) fail(key, value, "an array of integers");
    std::vector<Index> result;
    GgufValue element = value;
    element.type = value.element;
    for (std::uint64_t i = 0; i < value.count; ++i)
      result.push_back(whole(key, element, i, "an array of integers"));
    return result;
  }

  /// "FILE: metadata 'KEY' at byte N: is GOT, expected EXPECTED".
  [[noreturn]] void fail_metadata(std::string_view key, std::string_view got,
                                  std::string_view expected) const {
    const auto found = header_.metadata.find(key);
    const std::string place =
        found == header_.metadata.end() ? "" : " at byte " + std::to_string(found->second.entry);
    fail_format(file_, "metadata " + in_quotes(key) + place,
                "is " + std::string(got) + ", expected " + std::string(expected));
  }

 private:
  Gguf() = default;

  const GgufValue& require(std::string_view key, std::string_view expected) const {
    const auto found = header_.metadata.find(key);
    if (found == header_.metadata.end()) fail_metadata(key, "missing", expected);
    return found->second;
  }

  [[noreturn]] void fail(std::string_view key, const GgufValue& value, std::string_view expected) const {
    const bool array = value.type == GgufType::array;
    fail_metadata(
        key,
        (array ? "an array of " : "") + std::string(detail::facts(array ? value.element : value.type).name),
        expected);
  }

  /// The i-th of some numbers of one type.
  template <class Number>
  Number at(const GgufValue& value, std::uint64_t i) const {
    Number number;
    std::memcpy(&number, bytes_.data() + value.begin + i * sizeof(Number), sizeof number);
    return number;
  }

  std::string_view text_at(std::uint64_t begin) const {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes_.data() + begin, sizeof length);
    const char* const all = static_cast<const char*>(static_cast<const void*>(bytes_.data()));
    return {all + begin + 8, std::size_t(length)};
  }

  Index whole(std::string_view key, const GgufValue& value, std::uint64_t i,
              std::string_view expected = "an integer") const {
    switch (value.type) {
      case GgufType::u8:
        return at<std::uint8_t>(value, i);
      case GgufType::i8:
        return at<std::int8_t>(value, i);
      case GgufType::u16:
        return at<std::uint16_t>(value, i);
      case GgufType::i16:
        return at<std::int16_t>(value, i);
      case GgufType::u32:
        return at<std::uint32_t>(value, i);
      case GgufType::i32:
        return at<std::int32_t>(value, i);
      case GgufType::i64:
        return at<std::int64_t>(value, i);
      case GgufType::u64:
        break;
      default:
        fail(key, value, expected);
    }
    const auto wide = at<std::uint64_t>(value, i);
    if (!std::in_range<Index>(wide)) fail_metadata(key, std::to_string(wide), "at most 2^63 - 1");
    return Index(wide);
  }

  std::string file_;
  std::optional<MappedFile> mapping_;
  std::span<const std::byte> bytes_;
  GgufHeader header_;
};

}  // namespace headwise::io
