#pragma once

#include <headwise/core/dropout.hpp>
#include <headwise/core/executor.hpp>
#include <headwise/core/instruction_set.hpp>
#include <headwise/core/matrix.hpp>
#include <headwise/core/ragged_rows.hpp>

#include <limits>
#include <optional>
#include <span>

namespace headwise {

/// Says that the last query stands at the last key, in every sequence of the batch: k_len - q_len keys
/// precede the first query. What a cache, or a chunk of a longer text, needs.
inline constexpr Index align_last = std::numeric_limits<Index>::min();

/// Plain numbers that describe one call of `attend`. Whatever is learned lives in the score.
struct AttendOptions {
  Index heads = 1;                ///< query heads; a head is a block of query columns
  Index kv_heads = 0;             ///< key and value heads; 0 means as many as `heads`; divides `heads`
  std::optional<double> scale{};  ///< of query . key; 1 / sqrt(head_dim) when not given

  /// The number of keys before the first query, for policies that compare positions when q_len != k_len.
  std::optional<Index> query_offset{};
  /// One position a row, where an offset cannot say it; both or neither.
  std::span<const Position> query_positions{}, key_positions{};

  RaggedRows query_rows{};  ///< sequences in query; the whole matrix when not given
  RaggedRows key_rows{};    ///< sequences in key and value; as `query_rows` when not given

  Dropout dropout{};
  Executor executor{};  ///< serial when not given

  /// The vector instructions to use; the environment's, else the widest the CPU has, when not given.
  std::optional<InstructionSet> instruction_set{};
};

}  // namespace headwise
