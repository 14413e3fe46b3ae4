#pragma once

#include <headwise/core/buffer.hpp>
#include <headwise/core/executor.hpp>
#include <headwise/core/product.hpp>
#include <headwise/core/tile.hpp>
#include <headwise/stored/weight.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace headwise::stored {

namespace detail {

/// Up to here the panels are multiplied as they are, four rows of x at a time; beyond, unpacking them once
/// for all rows and the dense product cost less.
inline constexpr Index most_rows_unpacked_in_registers = 16;

/// Into how many parts a product is cut for threads. Every number is summed in one part, so cuts change no
/// bits. A part of few rows must be worth waking a thread: a tenth of a millisecond of one core.
inline Index parts_of_few_rows(const Weight& weight, Index rows) {
  constexpr double numbers = 1.5e6;
  const double work = double(weight.rows()) * double(weight.cols()) * double(rows);
  return std::clamp<Index>(Index(work / numbers), 1, weight.panels());
}

/// Many rows unpack some panels at a time, which stay in the second-level cache. For threads their number is
/// even, and none has more than sixteen panels: enough to share, and wide enough that packing x for each
/// costs little.
inline Index parts_of_many_rows(const Weight& weight, bool threads) {
  constexpr Index scratch_numbers = 192 * 1024;
  const Index most =
      std::clamp<Index>(scratch_numbers / (panel_rows * weight.cols()), 1, threads ? 16 : weight.panels());
  const Index parts = (weight.panels() + most - 1) / most;
  return threads && weight.panels() > 1 ? parts + parts % 2 : parts;
}

/// What the numbers of each row of x add up to, block by block.   x [n, cols] -> [n, cols / 32]
inline std::vector<float> block_sums(const ConstMatrixRef<float>& x) {
  const Index blocks = x.cols() / 32;
  std::vector<float> sums(std::size_t(x.rows() * blocks), 0);
  for (Index row = 0; row < x.rows(); ++row) {
    for (Index b = 0; b < blocks; ++b) {
      const float* const from = x.data() + row * x.outerStride() + 32 * b;
      float lane[8] = {};
      for (int k = 0; k < 32; k += 8)
        for (int i = 0; i < 8; ++i) lane[i] += from[k + i];
      float sum = 0;
      for (const float each : lane) sum += each;
      sums[std::size_t(row * blocks + b)] = sum;
    }
  }
  return sums;
}

/// Panels [begin, end) times a few rows of x, four of them at a time.
inline void multiply_few_rows(const ConstMatrixRef<float>& x, const Weight& weight,
                              const PanelKernels& kernels, const std::vector<float>& sums, Range panels,
                              MatrixRef<float> out) {
  const Index sums_stride = sums.empty() ? 0 : x.cols() / 32;
  for (Index p = panels.begin; p < panels.end; ++p) {
    const Index first = p * panel_rows, count = std::min(panel_rows, weight.rows() - first);
    for (Index row = 0; row < x.rows();) {
      const Index rows = x.rows() - row >= 4 ? 4 : 1;
      float products[4 * panel_rows];
      (rows == 4 ? kernels.four : kernels.one)(weight.panel(p), weight.cols(),
                                               x.data() + row * x.outerStride(), x.outerStride(),
                                               sums.data() + row * sums_stride, sums_stride, products);
      for (Index i = 0; i < rows; ++i, ++row)
        std::copy_n(products + i * panel_rows, count, out.data() + row * out.outerStride() + first);
    }
  }
}

/// Panels [begin, end) as floats [cols, rows of the panels], for the dense product.
inline void multiply_many_rows(const ConstMatrixRef<float>& x, const Weight& weight,
                               const PanelKernels& kernels, Range panels, MatrixRef<float> out) {
  Buffer<float> scratch(weight.cols() * panels.size() * panel_rows);
  const Index stride = panels.size() * panel_rows, first = panels.begin * panel_rows;
  for (Index p = panels.begin; p < panels.end; ++p)
    kernels.unpack(weight.panel(p), weight.cols(), scratch.data() + p * panel_rows - first, stride);
  const Index count = std::min(stride, weight.rows() - first);
  const Eigen::Map<const Matrix<float>, 0, Eigen::OuterStride<>> unpacked(
      scratch.data(), weight.cols(), count, Eigen::OuterStride<>(stride));
  headwise::detail::multiply_into<float>(x, unpacked, out.middleCols(first, count));
}

inline void multiply_panels(const ConstMatrixRef<float>& x, const Weight& weight, Matrix<float>& out,
                            const Executor& executor) {
  const PanelKernels kernels = panel_kernels(weight.format(), choose_instruction_set());
  const Index panels = weight.panels();
  const auto range = [panels](Index part, Index parts) {
    return Range{panels * part / parts, panels * (part + 1) / parts};
  };
  if (x.rows() <= most_rows_unpacked_in_registers) {
    const std::vector<float> sums = facts(weight.format()).block == 1 ? std::vector<float>() : block_sums(x);
    const Index parts = parts_of_few_rows(weight, x.rows());
    executor(parts,
             [&](Index part) { multiply_few_rows(x, weight, kernels, sums, range(part, parts), out); });
  } else {
    const Index parts = parts_of_many_rows(weight, bool(executor));
    executor(parts, [&](Index part) { multiply_many_rows(x, weight, kernels, range(part, parts), out); });
  }
}

}  // namespace detail

/// x W^T, unpacked on the way.   x [n, k], weight [m, k] -> [n, m]. Throws ShapeError when the columns
/// differ. The executor shares panels between threads, whose sums do not depend on it. Cost: 2 n k m FLOPs;
/// the bytes of the weight are read once for up to 4 rows, and once in all above 16.
template <RealMatrix X>
requires std::same_as < scalar_of<X>,
float > Matrix<float> multiply_transposed(const X& x, const Weight& weight, const Executor& executor = {}) {
  expect_equal("multiply_transposed: columns of the right factor", weight.cols(), x.cols());
  Matrix<float> out(x.rows(), weight.rows());
  if (weight.bytes() == 0 || out.size() == 0) {
    out.setZero();
    return out;
  }
  detail::multiply_panels(x, weight, out, executor);
  return out;
}

/// x W^T + b.   x [n, in], weight [out, in], bias [1, out] -> [n, out]. Throws ShapeError when the shapes
/// differ.
template <RealMatrix X, Computable B>
requires std::same_as < scalar_of<X>,
float > Matrix<float> affine(const X& x, const Weight& weight, const B& bias, const Executor& executor = {}) {
  expect_equal("affine: rows of the bias", bias.rows(), 1);
  expect_equal("affine: columns of the bias", bias.cols(), weight.rows());
  Matrix<float> out = multiply_transposed(x, weight, executor);
  for (Index row = 0; row < out.rows(); ++row) out.row(row) += value_of(bias).row(0);
  return out;
}

/// The rows `ids` of a table.   table [count, m], ids [n] -> [n, m].
/// Throws ShapeError, naming the id, when one is not a row of the table.
inline Matrix<float> embed(const Weight& table, std::span<const TokenId> ids) {
  Matrix<float> out(Index(ids.size()), table.cols());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || Index(ids[i]) >= table.rows()) {
      fail_shape("embed: ids[" + std::to_string(i) + "]", std::to_string(ids[i]),
                 "a row of the table, 0 to " + std::to_string(table.rows() - 1));
    }
    table.row_into(Index(ids[i]), out.data() + Index(i) * table.cols());
  }
  return out;
}

}  // namespace headwise::stored
