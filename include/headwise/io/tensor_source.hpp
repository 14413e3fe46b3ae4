#pragma once

#include <headwise/core/tile.hpp>
#include <headwise/io/safetensors.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headwise::io {

/// Where one of our parameters lies in a file, and how it is stored there.
///
/// Published weights are [out, in] and biases [out], as ours; GPT-2's are [in, out]. Several of our
/// parameters may be stretches of one fused tensor: `outputs` lists the stretches, in order, along its
/// outputs, which are the rows of [out, in] and the columns of [in, out] and of a bias. So one list serves a
/// weight and its bias.
struct TensorSource {
  std::string name;              ///< in the file; empty: the parameter keeps the numbers that it has
  std::vector<Range> outputs{};  ///< all of them when empty
  bool transposed = false;       ///< stored [in, out]
  bool reshaped =
      false;  ///< stored row by row in another shape, as [heads, head_dim] for [1, heads * head_dim]
};

/// Part `part` of equal ones that are fused one after the other, `size` outputs each: query, key and value
/// are parts 0, 1 and 2 of nn.MultiheadAttention's in_proj and of GPT-2's c_attn.
inline std::vector<Range> fused_part(Index part, Index size) { return {{part * size, (part + 1) * size}}; }

/// Part `part` of `parts` that are fused head by head, `head_dim` outputs each: query, key and value of head
/// 0, then of head 1, and so on, as in the query_key_value of GPT-NeoX and BLOOM.
inline std::vector<Range> part_of_each_head(Index part, Index parts, Index heads, Index head_dim) {
  std::vector<Range> outputs;
  for (Index head = 0; head < heads; ++head) {
    const Index begin = (head * parts + part) * head_dim;
    outputs.push_back({begin, begin + head_dim});
  }
  return outputs;
}

namespace detail {

/// The shape of a matrix.
struct Shape {
  Index rows = 0, cols = 0;
  friend bool operator==(const Shape&, const Shape&) = default;
};

inline std::string describe(Shape shape) {
  std::string text = "[";
  return text.append(std::to_string(shape.rows)).append(", ").append(std::to_string(shape.cols)).append("]");
}

/// Outputs are columns in [in, out] and in a vector.
inline bool outputs_are_columns(const TensorSource& source, const TensorInfo& info) {
  return source.transposed || info.shape.size() < 2;
}

/// The first stretch that the tensor does not have, or nothing.
inline const Range* outside(const TensorSource& source, const TensorInfo& info) {
  const Range all{0, outputs_are_columns(source, info) ? info.cols : info.rows};
  for (const Range& range : source.outputs)
    if (range.begin < 0 || range.end < range.begin || range.end > all.end) return &range;
  return nullptr;
}

/// The shape that a source gives, before any reshaping. Its stretches must be inside the tensor.
inline Shape shape_of(const TensorSource& source, const TensorInfo& info) {
  Shape shape{info.rows, info.cols};
  if (!source.outputs.empty()) {
    Index& outputs = outputs_are_columns(source, info) ? shape.cols : shape.rows;
    outputs = 0;
    for (const Range& range : source.outputs) outputs += range.size();
  }
  return source.transposed ? Shape{shape.cols, shape.rows} : shape;
}

/// Reads a source whose stretches are inside the tensor, and whose dtype is floating. No byte outside the
/// stretches is touched.
template <class Scalar>
Matrix<Scalar> read_source(const SafeTensors& file, const TensorSource& source, Shape shape) {
  const TensorInfo& info = file.info(source.name);
  const std::byte* const bytes = file.bytes(source.name).data();
  const bool columns = outputs_are_columns(source, info);
  const std::vector<Range> all{{0, columns ? info.cols : info.rows}};
  const std::vector<Range>& outputs = source.outputs.empty() ? all : source.outputs;

  const Shape picked = shape_of(source, info);
  Matrix<Scalar> stored =
      source.transposed ? Matrix<Scalar>(picked.cols, picked.rows) : Matrix<Scalar>(picked.rows, picked.cols);
  Scalar* to = stored.data();
  const auto read = [&](Index row, Index col, Index count) {
    read_floats(info.dtype, bytes + std::size_t(row * info.cols + col) * facts(info.dtype).size, count, to);
    to += count;
  };
  if (columns) {
    for (Index row = 0; row < info.rows; ++row)
      for (const Range& range : outputs) read(row, range.begin, range.size());
  } else {
    for (const Range& range : outputs) read(range.begin, 0, range.size() * info.cols);
  }
  if (source.transposed) stored = Matrix<Scalar>(stored.transpose());
  stored.resize(shape.rows, shape.cols);  // the same numbers, row by row
  return stored;
}

}  // namespace detail

}  // namespace headwise::io
