#pragma once

#include <headwise/attention/options.hpp>
#include <headwise/core/error.hpp>
#include <headwise/core/mask_queries.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headwise::mask {

/// Which head and sequence a picture shows, and where its tokens stand; the meaning is that of AttendOptions.
struct PictureOptions {
  std::optional<Index> query_offset{};  ///< keys before the first query, or align_last
  std::span<const Position> query_positions{}, key_positions{};  ///< one a row; both or neither
  Index head = 0, heads = 1;
  Index sequence = 0, sequences = 1;  ///< of a batch in which all sequences have q_len queries and k_len keys
};

namespace detail {

inline void check_picture(Index q_len, Index k_len, const PictureOptions& options) {
  expect_not_negative("to_dense: q_len", q_len);
  expect_not_negative("to_dense: k_len", k_len);
  const auto expect_one_of = [](std::string_view what, Index got, Index count, std::string_view of) {
    if (got >= 0 && got < count) return;
    fail_shape(what, std::to_string(got), "0 to " + std::to_string(count - 1) + std::string(of));
  };
  expect_one_of("to_dense: head", options.head, options.heads, " (heads)");
  expect_one_of("to_dense: sequence", options.sequence, options.sequences, " (sequences)");
  if (options.query_positions.empty() && options.key_positions.empty()) return;
  expect_equal("to_dense: query_positions", Index(options.query_positions.size()), q_len,
               "give one for each query");
  expect_equal("to_dense: key_positions", Index(options.key_positions.size()), k_len,
               "give one for each key");
  if (options.query_offset)
    throw ShapeError("to_dense: query_offset and positions are both given, expected one");
}

/// The places of `rows` rows, from explicit positions where there are any.
inline Place place_of(Index row, Index offset, std::span<const Position> positions) {
  return {positions.empty() ? Position(row + offset) : positions[std::size_t(row)], Position(row)};
}

inline Index picture_offset(Index q_len, Index k_len, const PictureOptions& options, bool needed) {
  if (options.query_offset)
    return *options.query_offset == align_last ? k_len - q_len : *options.query_offset;
  if (!needed || q_len == k_len || !options.query_positions.empty()) return 0;
  fail_shape(
      "to_dense: query_offset", "not given",
      "a number, because q_len " + std::to_string(q_len) + " and k_len " + std::to_string(k_len) + " differ",
      "say how many keys precede the first query, or align_last");
}

}  // namespace detail

/// The mask as a matrix [q_len, k_len], true where the query may attend to the key: for pictures and tests.
///
/// Any mask will do, a bare callable included. Cost: q_len k_len tests and bytes, which `attend` never pays.
/// Throws ShapeError as `attend` does: for lengths that differ without an offset, and for what the mask
/// refuses.
template <MaskPolicy M>
Matrix<bool> to_dense(const M& mask, Index q_len, Index k_len, const PictureOptions& options = {}) {
  detail::check_picture(q_len, k_len, options);
  const Index offset = detail::picture_offset(q_len, k_len, options, needs_query_position<M>());
  Context context;
  context.heads = options.heads;
  context.sequence = options.sequence;
  context.sequences = options.sequences;
  context.query_rows = {options.sequence * q_len, (options.sequence + 1) * q_len};
  context.key_rows = {options.sequence * k_len, (options.sequence + 1) * k_len};
  context.relative = {-offset - q_len + 1, k_len - offset};
  check_mask(mask, context);

  context.head = options.head;
  const auto bound = bind_mask(mask, context);
  Matrix<bool> seen(q_len, k_len);
  for (Index i = 0; i < q_len; ++i) {
    const Place query = detail::place_of(i, offset, options.query_positions);
    for (Index j = 0; j < k_len; ++j)
      seen(i, j) = allows(bound, query, detail::place_of(j, 0, options.key_positions));
  }
  return seen;
}

/// The mask as text, one line a query: '#' for a key that it sees, '.' for one that is hidden.
///
/// Throws as to_dense.
template <MaskPolicy M>
std::string to_string(const M& mask, Index q_len, Index k_len, const PictureOptions& options = {}) {
  const Matrix<bool> seen = to_dense(mask, q_len, k_len, options);
  std::string text;
  text.reserve(std::size_t(q_len * (k_len + 1)));
  for (Index i = 0; i < q_len; ++i) {
    for (Index j = 0; j < k_len; ++j) text.push_back(seen(i, j) ? '#' : '.');
    text.push_back('\n');
  }
  return text;
}

}  // namespace headwise::mask
