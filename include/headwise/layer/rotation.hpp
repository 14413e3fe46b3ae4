#pragma once

#include <headwise/attention/options.hpp>
#include <headwise/core/error.hpp>
#include <headwise/core/math.hpp>
#include <headwise/position/positions.hpp>
#include <headwise/position/rotary.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace headwise::layer {

/// Where every row of query and key stands, as the options of a call say it.
struct TokenPositions {
  RaggedRows query_rows, key_rows;  ///< borders said out loud
  std::vector<Position> query, key;
  std::vector<Index> lengths;  ///< of each sequence's whole text: the last position of query and key, plus 1
};

namespace detail {

inline std::vector<Index> text_lengths(const TokenPositions& positions) {
  std::vector<Index> lengths(std::size_t(positions.query_rows.sequences()), 1);
  const auto extend = [&](const RaggedRows& rows, const std::vector<Position>& each) {
    for (Index s = 0; s < rows.sequences(); ++s)
      for (Index row = rows[s].begin; row < rows[s].end; ++row)
        lengths[std::size_t(s)] = std::max(lengths[std::size_t(s)], Index(each[std::size_t(row)]) + 1);
  };
  extend(positions.query_rows, positions.query);
  extend(positions.key_rows, positions.key);
  return lengths;
}

}  // namespace detail

/// Positions as given; else keys count from 0 in each sequence and queries from query_offset.
/// Throws ShapeError when lengths differ and nothing says where the queries stand.
inline TokenPositions token_positions(const AttendOptions& options, Index query_rows, Index key_rows) {
  TokenPositions result;
  result.query_rows = options.query_rows.over(query_rows, "MultiHeadAttention: query");
  const bool same = options.key_rows.whole() && !options.query_rows.whole();
  result.key_rows = (same ? options.query_rows : options.key_rows).over(key_rows, "MultiHeadAttention: key");
  expect_equal("MultiHeadAttention: sequences of key", result.key_rows.sequences(),
               result.query_rows.sequences());
  if (!options.query_positions.empty() || !options.key_positions.empty()) {
    expect_equal("MultiHeadAttention: query_positions", Index(options.query_positions.size()), query_rows);
    expect_equal("MultiHeadAttention: key_positions", Index(options.key_positions.size()), key_rows);
    result.query.assign(options.query_positions.begin(), options.query_positions.end());
    result.key.assign(options.key_positions.begin(), options.key_positions.end());
    result.lengths = detail::text_lengths(result);
    return result;
  }
  result.key = position::within_sequences(result.key_rows);
  for (Index s = 0; s < result.query_rows.sequences(); ++s) {
    const Index q_len = result.query_rows[s].size(), k_len = result.key_rows[s].size();
    if (q_len != k_len && !options.query_offset) {
      throw ShapeError(
          "MultiHeadAttention: sequence " + std::to_string(s) + " has " + std::to_string(q_len) +
          " queries and " + std::to_string(k_len) +
          " keys, expected to be told where the queries stand, to rotate them; set .query_offset, or "
          ".query_positions and .key_positions");
    }
    const Index offset = options.query_offset.value_or(0);
    const auto sequence = position::consecutive(q_len, offset == align_last ? k_len - q_len : offset);
    result.query.insert(result.query.end(), sequence.begin(), sequence.end());
  }
  result.lengths = detail::text_lengths(result);
  return result;
}

/// The angles of every row, the same bits for any executor. A scaling that reads the length is given that of
/// each row's own text, so that no sequence of a batch depends on another.
template <class Scalar>
position::RotaryTable<math::real_of<Scalar>> rotation(const position::Rotary& rotary,
                                                      std::span<const Position> positions,
                                                      const RaggedRows& rows,
                                                      const std::vector<Index>& lengths,
                                                      const Executor& executor = {}) {
  using Real = math::real_of<Scalar>;
  if (!position::reads_length(rotary.options().scaling)) {
    return rotary.template table<Real>(positions, {}, executor);
  }
  const Index pairs = rotary.options().rotary_dim / 2;
  position::RotaryTable<Real> table{Matrix<Real>(rows.rows(), pairs), Matrix<Real>(rows.rows(), pairs),
                                    rotary.options().head_dim, rotary.options().pairing};
  for (Index s = 0; s < rows.sequences(); ++s) {
    const Range own = rows[s];
    const auto turned =
        rotary.template table<Real>(positions.subspan(std::size_t(own.begin), std::size_t(own.size())),
                                    lengths[std::size_t(s)], executor);
    table.cosines.middleRows(own.begin, own.size()) = turned.cosines;
    table.sines.middleRows(own.begin, own.size()) = turned.sines;
  }
  return table;
}

}  // namespace headwise::layer
