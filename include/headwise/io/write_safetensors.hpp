#pragma once

#include <headwise/io/dtype.hpp>
#include <headwise/io/mapped_file.hpp>
#include <headwise/io/utf8.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headwise::io {

/// A tensor to be written: its numbers stay where they are, and must outlive the call that writes them.
struct TensorView {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<Index> shape;
  std::span<const std::byte> bytes;  ///< row-major
};

/// A matrix under a name, as [rows, cols]. Scalars: float, double, int64, int32, uint8.
template <class Scalar>
TensorView tensor_view(std::string name, const Matrix<Scalar>& matrix) {
  const std::span<const Scalar> numbers(matrix.data(), std::size_t(matrix.size()));
  return {std::move(name), dtype_of<Scalar>(), {matrix.rows(), matrix.cols()}, std::as_bytes(numbers)};
}
template <class Scalar>
TensorView tensor_view(std::string name, const Matrix<Scalar>&& matrix) = delete;

namespace detail {

/// The file under a temporary name beside its own, until all is on the disk.
class Replacement {
 public:
  explicit Replacement(std::string path) : path_(std::move(path)) {
    // A name may be taken by another writer, or left over from one that was killed.
    for (int attempt = 0; descriptor_ < 0 && attempt < 100; ++attempt) {
      temporary_ = path_ + ".part-" + std::to_string(attempt);
      descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor_ < 0 && errno != EEXIST) break;
    }
    if (descriptor_ < 0) fail("cannot be created");
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("cannot be written");
      bytes = bytes.subspan(std::size_t(written));
    }
  }

  /// Only now does the file appear under its name, whole.
  void commit() {
    if (::fsync(descriptor_) != 0) fail("cannot be written");
    if (::close(std::exchange(descriptor_, -1)) != 0) fail("cannot be written");
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be replaced");
    temporary_.clear();
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    const int reason = errno;
    fail_format(path_, "", std::string(what) + ": " + std::strerror(reason));
  }

  std::string path_, temporary_;
  int descriptor_ = -1;
};

/// A JSON string. Throws ShapeError for what is not UTF-8.
inline std::string json_string(std::string_view text) {
  if (!is_utf8(text)) throw ShapeError("write_safetensors: " + in_quotes(text) + " is not UTF-8");
  constexpr char digits[] = "0123456789abcdef";
  std::string result = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result.append(1, '\\').append(1, c);
    } else if (byte < 0x20) {
      result.append("\\u00").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    } else {
      result += c;
    }
  }
  return result += '"';
}

/// Throws ShapeError unless a reader would accept the tensor, by what it says of itself.
inline void check_view(const TensorView& tensor) {
  const std::string what = "write_safetensors: " + in_quotes(tensor.name);
  if (tensor.name == "__metadata__") throw ShapeError(what + " is reserved, expected the name of a tensor");
  std::uint64_t bytes = facts(tensor.dtype).size;
  bool overflow = false;
  for (Index n : tensor.shape) {
    expect_not_negative(what + " dimension", n);
    overflow |= n > 0 && bytes > std::uint64_t(std::numeric_limits<Index>::max()) / std::uint64_t(n);
    bytes = n > 0 ? bytes * std::uint64_t(n) : bytes;
  }
  const bool empty = std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end();
  if (overflow || tensor.bytes.size() != (empty ? 0 : bytes)) {
    throw ShapeError(what + " has " + std::to_string(tensor.bytes.size()) + " bytes, expected those of " +
                     describe(tensor.dtype, tensor.shape));
  }
}

/// The header of tensors that follow each other in the order given, padded with spaces to a multiple of 8
/// bytes.
inline std::string safetensors_header(const std::vector<const TensorView*>& tensors,
                                      const std::map<std::string, std::string>& metadata) {
  std::string header = "{";
  const auto comma = [&header] { header.append(header.size() > 1 ? "," : ""); };
  if (!metadata.empty()) {
    header += R"("__metadata__":{)";
    for (const auto& [key, value] : metadata) {
      header.append(header.back() == '{' ? "" : ",")
          .append(json_string(key))
          .append(":")
          .append(json_string(value));
    }
    header += "}";
  }
  std::uint64_t begin = 0;
  for (const TensorView* tensor : tensors) {
    comma();
    header.append(json_string(tensor->name)).append(R"(:{"dtype":")").append(facts(tensor->dtype).name);
    header += R"(","shape":[)";
    for (Index n : tensor->shape) header.append(header.back() == '[' ? "" : ",").append(std::to_string(n));
    const std::uint64_t end = begin + tensor->bytes.size();
    header.append(R"(],"data_offsets":[)").append(std::to_string(begin)).append(",");
    header.append(std::to_string(end)).append("]}");
    begin = end;
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  return header;
}

}  // namespace detail

/// Writes a safetensors file: wider types first, then by name, so that every tensor is aligned; byte for byte
/// what the reference implementation writes of the same tensors.
///
/// The file appears under its name only when it is whole: until then, and after any failure, the old one
/// stands. Throws ShapeError for two tensors of one name, a reserved name, a name or text that is not UTF-8,
/// and bytes that do not fit the shape, all before anything is written; FormatError when the file cannot be
/// written.
inline void write_safetensors(const std::string& path, const std::vector<TensorView>& tensors,
                              const std::map<std::string, std::string>& metadata = {}) {
  std::vector<const TensorView*> order;
  for (const TensorView& tensor : tensors) {
    detail::check_view(tensor);
    order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(),
            [](const TensorView* a, const TensorView* b) { return a->name < b->name; });
  const auto same_name = [](const TensorView* a, const TensorView* b) { return a->name == b->name; };
  if (const auto twice = std::adjacent_find(order.begin(), order.end(), same_name); twice != order.end()) {
    throw ShapeError("write_safetensors: " + in_quotes((*twice)->name) +
                     " is the name of two tensors, expected one");
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const TensorView* a, const TensorView* b) { return a->dtype > b->dtype; });
  const std::string header = detail::safetensors_header(order, metadata);
  const std::uint64_t length = header.size();
  if (length > max_header_bytes) {
    fail_shape("write_safetensors: the header", std::to_string(length) + " bytes",
               "at most " + std::to_string(max_header_bytes), "write several files");
  }

  detail::Replacement file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(std::as_bytes(std::span(header)));
  for (const TensorView* tensor : order) file.write(tensor->bytes);
  file.commit();
}

}  // namespace headwise::io
