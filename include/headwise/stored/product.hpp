#pragma once

#include <headwise/core/buffer.hpp>
#include <headwise/core/executor.hpp>
#include <headwise/core/product.hpp>
#include <headwise/core/row_chunks.hpp>
#include <headwise/core/tile.hpp>
#include <headwise/stored/weight.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headwise::stored {

namespace detail {

/// Up to here the panels are multiplied as they are, four rows of x at a time; beyond, unpacking them once
/// for all rows and the dense product cost less.
inline constexpr Index most_rows_unpacked_in_registers = 16;

/// Into how many parts a product is cut for threads. Every number is summed in one part, so cuts change no
/// bits. A part of few rows takes about ten microseconds of one core.
inline Index parts_of_few_rows(const Weight& weight, Index rows, bool threads) {
  if (!threads) return 1;
  constexpr double numbers = 1.5e5;
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

/// One of the products of a call.
struct Product {
  const Weight* weight;
  Matrix<float>* out;
};

/// Some panels of one product.
struct Part {
  const Product* product;
  PanelKernels kernels;
  Range panels;
};

/// All products with one x, in one round of the threads.
inline void multiply_panels(const ConstMatrixRef<float>& x, std::span<const Product> products,
                            const Executor& executor) {
  const bool few = x.rows() <= most_rows_unpacked_in_registers;
  std::vector<Part> parts;
  bool sums_needed = false;
  for (const Product& product : products) {
    const Weight& weight = *product.weight;
    const PanelKernels kernels = panel_kernels(weight.format(), choose_instruction_set());
    const bool threads(executor);
    const Index count =
        few ? parts_of_few_rows(weight, x.rows(), threads) : parts_of_many_rows(weight, threads);
    for (Index part = 0; part < count; ++part)
      parts.push_back(
          {&product, kernels, {weight.panels() * part / count, weight.panels() * (part + 1) / count}});
    sums_needed = sums_needed || facts(weight.format()).block != 1;
  }
  const std::vector<float> sums = few && sums_needed ? block_sums(x) : std::vector<float>();
  executor(Index(parts.size()), [&](Index i) {
    const auto& [product, kernels, panels] = parts[std::size_t(i)];
    if (few) {
      multiply_few_rows(x, *product->weight, kernels, sums, panels, *product->out);
    } else {
      multiply_many_rows(x, *product->weight, kernels, panels, *product->out);
    }
  });
}

}  // namespace detail

/// x W^T for each of several weights, unpacked on the way, in one round of the threads.   x [n, k], weights
/// [m_i, k] -> [n, m_i] each. Throws ShapeError when the columns differ. The executor shares the panels of
/// all between threads, whose sums do not depend on it. Cost: 2 n k m FLOPs; the bytes of a weight are read
/// once for up to 4 rows, and once in all above 16.
template <RealMatrix X, std::same_as<Weight>... Weights>
requires std::same_as < scalar_of<X>,
float > std::array<Matrix<float>, sizeof...(Weights)> multiply_transposed_each(const X& x,
                                                                               const Executor& executor,
                                                                               const Weights&... weights) {
  const auto checked = [&x](const Weight& weight) {
    expect_equal("multiply_transposed: columns of the right factor", weight.cols(), x.cols());
    return Matrix<float>(x.rows(), weight.rows());
  };
  std::array<Matrix<float>, sizeof...(Weights)> results{checked(weights)...};
  const std::array<const Weight*, sizeof...(Weights)> each{&weights...};
  std::vector<detail::Product> products;
  for (std::size_t i = 0; i < each.size(); ++i) {
    if (each[i]->bytes() == 0 || results[i].size() == 0) {
      results[i].setZero();
    } else {
      products.push_back({each[i], &results[i]});
    }
  }
  if (!products.empty()) detail::multiply_panels(x, products, executor);
  return results;
}

/// x W^T, unpacked on the way.   x [n, k], weight [m, k] -> [n, m]. As above for one weight.
template <RealMatrix X>
requires std::same_as < scalar_of<X>,
float > Matrix<float> multiply_transposed(const X& x, const Weight& weight, const Executor& executor = {}) {
  return std::move(multiply_transposed_each(x, executor, weight).front());
}

/// x W^T + b.   x [n, in], weight [out, in], bias [1, out] -> [n, out]. Throws ShapeError when the shapes
/// differ.
template <RealMatrix X, Computable B>
requires std::same_as < scalar_of<X>,
float > Matrix<float> affine(const X& x, const Weight& weight, const B& bias, const Executor& executor = {}) {
  expect_equal("affine: rows of the bias", bias.rows(), 1);
  expect_equal("affine: columns of the bias", bias.cols(), weight.rows());
  Matrix<float> out = multiply_transposed(x, weight, executor);
  for_each_row_chunk(executor, out.rows(), 3.0 * double(out.cols()), [&](Range rows) {
    for (Index row = rows.begin; row < rows.end; ++row) out.row(row) += value_of(bias).row(0);
  });
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
