#pragma once

#include <headwise/io/safetensors_header.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headwise::io {

/// A safetensors file, open for reading: named tensors of plain numbers, as published checkpoints hold them.
///
///     8 bytes: N   |   N bytes: JSON, {name: {dtype, shape, data_offsets}}   |   the numbers, row-major
///
/// The file is mapped, so opening reads the header only, and a tensor costs its own bytes. The whole layout
/// is checked on opening: afterwards no read can leave the file. Tensors may stand at any byte. Throws
/// FormatError naming file, tensor and byte for whatever is not as the format says. Format: Hugging Face,
/// "Safetensors", https://github.com/huggingface/safetensors.
class SafeTensors {
 public:
  /// Opens a file.
  explicit SafeTensors(std::string path) : mapping_(std::in_place, std::move(path)) {
    file_ = mapping_->path();
    bytes_ = mapping_->bytes();
    header_ = read_safetensors_header(mapping_->text(), file_);
  }

  /// Reads a file that is in memory already; `file` names it in errors, and the bytes must outlive the
  /// result.
  static SafeTensors view(std::span<const std::byte> bytes, std::string file) {
    SafeTensors tensors;
    tensors.file_ = std::move(file);
    tensors.bytes_ = bytes;
    const std::string_view text(static_cast<const char*>(static_cast<const void*>(bytes.data())),
                                bytes.size());
    tensors.header_ = read_safetensors_header(text, tensors.file_);
    return tensors;
  }

  /// The path, or the name given to `view`.
  const std::string& file() const noexcept { return file_; }

  /// All names, in alphabetical order.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    names.reserve(header_.tensors.size());
    for (const auto& entry : header_.tensors) names.push_back(entry.first);
    return names;
  }

  bool contains(std::string_view name) const { return header_.tensors.contains(name); }

  /// Dtype, shape and place of a tensor. Throws FormatError when there is none of that name.
  const TensorInfo& info(std::string_view name) const {
    const auto found = header_.tensors.find(name);
    if (found == header_.tensors.end()) {
      fail_format(file_, "tensor " + in_quotes(name),
                  "is missing among the " + std::to_string(header_.tensors.size()) + " tensors of the file");
    }
    return found->second;
  }

  /// All tensors by name.
  const auto& tensors() const noexcept { return header_.tensors; }

  /// The strings under __metadata__.
  const auto& metadata() const noexcept { return header_.metadata; }

  /// The numbers of a tensor as they are stored. The span lives as long as the file is open.
  std::span<const std::byte> bytes(std::string_view name) const {
    const TensorInfo& tensor = info(name);
    return bytes_.subspan(std::size_t(tensor.begin), std::size_t(tensor.end - tensor.begin));
  }

  /// A tensor of F64, F32, F16 or BF16 -> [rows, cols], converted to Scalar; TensorInfo says how a tensor of
  /// any rank is a matrix. Only F64 can lose precision, and only when Scalar is float.
  /// Throws FormatError when there is none of that name, or when it holds no floating-point numbers.
  template <class Scalar>
  Matrix<Scalar> matrix(std::string_view name) const {
    const TensorInfo& tensor = info(name);
    expect_kind(name, tensor, NumberKind::floating, "floating-point numbers; integers() reads the others");
    Matrix<Scalar> result(tensor.rows, tensor.cols);
    read_floats(tensor.dtype, bytes(name).data(), result.size(), result.data());
    return result;
  }

  /// A tensor of integers or booleans -> [rows, cols], widened to 64 bits; a boolean is 0 or 1.
  /// Throws FormatError when there is none of that name, or when it holds no integers, or one above 2^63 - 1.
  Matrix<std::int64_t> integers(std::string_view name) const {
    const TensorInfo& tensor = info(name);
    expect_kind(name, tensor, NumberKind::integer, "integers; matrix<Scalar>() reads floating-point numbers");
    Matrix<std::int64_t> result(tensor.rows, tensor.cols);
    read_integers(tensor.dtype, bytes(name).data(), result.size(), result.data());
    if (tensor.dtype == Dtype::u64) {
      for (Index i = 0; i < result.size(); ++i) {
        if (result.data()[i] >= 0) continue;
        fail_format(
            file_,
            "tensor " + in_quotes(name) + " at byte " + std::to_string(tensor.begin + 8 * std::uint64_t(i)),
            "holds " + std::to_string(std::uint64_t(result.data()[i])) + ", expected at most 2^63 - 1");
      }
    }
    return result;
  }

 private:
  SafeTensors() = default;

  void expect_kind(std::string_view name, const TensorInfo& tensor, NumberKind kind,
                   const char* expected) const {
    if (facts(tensor.dtype).kind == kind) return;
    detail::fail_tensor(file_, name, tensor,
                        "is " + describe(tensor.dtype, tensor.shape) + ", expected " + expected);
  }

  std::string file_;
  std::optional<MappedFile> mapping_;
  std::span<const std::byte> bytes_;
  SafetensorsHeader header_;
};

}  // namespace headwise::io
