#pragma once

#include <headwise/attention/explain.hpp>
#include <headwise/core/matrix.hpp>

#include "report/sparse.hpp"

/// The sizes of the sparse patterns that are timed.
namespace headwise::report {

inline constexpr Index blocks = 4;                          ///< Blockwise
inline constexpr Index reach = 128, global_tokens = 16;     ///< Longformer
inline constexpr Index block_size = 64, random_blocks = 3;  ///< Big Bird
inline constexpr Index chunk_len = 64;                      ///< LSH

/// The stride of Strided and Fixed, and the clusters of Routing: the square root of the length, rounded.
Index root_of(Index seq_len);

/// What `explain` is asked of one head over that many rows.
inline AttentionShape shape_of(Index rows) { return {.q_len = rows, .k_len = rows, .head_dim = head_dim}; }

}  // namespace headwise::report
