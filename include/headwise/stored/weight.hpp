#pragma once

#include <headwise/core/buffer.hpp>
#include <headwise/core/error.hpp>
#include <headwise/stored/targets.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headwise::stored {

/// A weight matrix that stays in the format it is stored in: a quarter or an eighth of the bytes of floats,
/// read from memory at every product, unpacked in registers, and multiplied in float. Nothing is rounded on
/// the way: the products are those of the dequantised floats, up to the order of their sums.
///
/// In memory, 16 rows lie side by side, so that a vector instruction works on one number of each. A matrix
/// with fewer rows than whole panels is filled up with zeros. A value: copies copy the bytes.
class Weight {
 public:
  using Scalar = float;

  Weight() = default;

  /// Zeros, which take no memory until a loader replaces them. Throws ShapeError for a negative size.
  static Weight zeros(Index rows, Index cols) {
    expect_not_negative("Weight: rows", rows);
    expect_not_negative("Weight: cols", cols);
    Weight weight;
    weight.rows_ = rows;
    weight.cols_ = cols;
    return weight;
  }

  /// Numbers as a file has them.   bytes: rows * cols numbers in `format`, row-major
  /// Throws ShapeError when cols are not whole blocks, or the bytes are not as many as that takes.
  static Weight of(Format format, Index rows, Index cols, std::span<const std::byte> bytes) {
    Weight weight = zeros(rows, cols);
    weight.format_ = format;
    expect_multiple("Weight: cols", cols, facts(format).block, "the block of the format");
    expect_equal("Weight: bytes", Index(bytes.size()), Index(bytes_of(format, rows * cols)));
    weight.bytes_.assign(std::size_t(weight.panels()) * weight.panel_bytes(), std::byte(0));
    const std::size_t row_bytes = bytes_of(format, cols);
    for (Index row = 0; row < rows; ++row) weight.put_row(row, bytes.data() + std::size_t(row) * row_bytes);
    return weight;
  }

  /// A matrix of floats, rounded to `format`. Throws ShapeError when its columns are not whole blocks.
  static Weight rounded(const ConstMatrixRef<float>& matrix, Format format) {
    expect_multiple("Weight: cols", matrix.cols(), facts(format).block, "the block of the format");
    std::vector<std::byte> bytes(bytes_of(format, matrix.size()));
    const std::size_t row_bytes = bytes_of(format, matrix.cols());
    for (Index row = 0; row < matrix.rows(); ++row)
      encode(format, matrix.data() + row * matrix.outerStride(), matrix.cols(),
             bytes.data() + std::size_t(row) * row_bytes);
    return of(format, matrix.rows(), matrix.cols(), bytes);
  }

  Index rows() const noexcept { return rows_; }
  Index cols() const noexcept { return cols_; }
  Format format() const noexcept { return format_; }

  /// Bytes held; 0 for zeros.
  std::size_t bytes() const noexcept { return bytes_.size(); }

  /// The panels, one after the other; nothing for zeros.
  Index panels() const noexcept { return (rows_ + panel_rows - 1) / panel_rows; }
  std::size_t panel_bytes() const noexcept { return bytes_of(format_, cols_) * std::size_t(panel_rows); }
  const std::byte* panel(Index i) const noexcept { return bytes_.data() + std::size_t(i) * panel_bytes(); }

  /// One row as floats.   to [cols]
  void row_into(Index row, float* to) const {
    if (bytes_.empty()) {
      std::fill_n(to, cols_, 0.0f);
      return;
    }
    std::vector<std::byte> stored(bytes_of(format_, cols_));
    for_each_piece(row, [&](std::size_t at, std::size_t offset, std::size_t size) {
      std::memcpy(stored.data() + offset, bytes_.data() + at, size);
    });
    decode(format_, stored.data(), cols_, to);
  }

  /// All of it as floats.
  Matrix<float> matrix() const {
    Matrix<float> result(rows_, cols_);
    for (Index row = 0; row < rows_; ++row) row_into(row, result.data() + row * cols_);
    return result;
  }

 private:
  void put_row(Index row, const std::byte* from) {
    for_each_piece(row, [&](std::size_t at, std::size_t offset, std::size_t size) {
      std::memcpy(bytes_.data() + at, from + offset, size);
    });
  }

  /// piece(place in the panels, offset in the stored row, bytes) for all that belongs together: a number, a
  /// scale, a byte of quanta.
  template <class Piece>
  void for_each_piece(Index row, Piece&& piece) const {
    const FormatFacts& format = facts(format_);
    const std::size_t lanes = std::size_t(panel_rows), lane = std::size_t(row % panel_rows);
    const std::size_t begin = std::size_t(row / panel_rows) * panel_bytes();
    const std::size_t halves = format.block == 1 ? 0 : format_ == Format::q4_1 ? 2 : 1;
    for (std::size_t block = 0; block < std::size_t(cols_ / format.block); ++block) {
      const std::size_t to = begin + block * format.block_bytes * lanes, from = block * format.block_bytes;
      if (halves == 0) {
        piece(to + lane * format.block_bytes, from, format.block_bytes);
        continue;
      }
      for (std::size_t i = 0; i < halves; ++i) piece(to + 2 * (i * lanes + lane), from + 2 * i, 2);
      for (std::size_t i = 2 * halves; i < format.block_bytes; ++i) piece(to + i * lanes + lane, from + i, 1);
    }
  }

  Format format_ = Format::f32;
  Index rows_ = 0, cols_ = 0;
  std::vector<std::byte> bytes_;
};

}  // namespace headwise::stored
