#pragma once

#include <headwise/core/dropout.hpp>
#include <headwise/core/executor.hpp>
#include <headwise/core/instruction_set.hpp>
#include <headwise/core/policy.hpp>
#include <headwise/core/ragged_rows.hpp>
#include <headwise/kernel/operand.hpp>
#include <headwise/kernel/plan.hpp>

#include <optional>
#include <span>

namespace headwise::kernel {

/// Where the tokens of one sequence stand: rows count from 0, positions are what policies compare.
struct Geometry {
  Index q_len = 0, k_len = 0;
  Position query_offset = 0;                                     ///< position of query row 0
  std::span<const Position> query_positions{}, key_positions{};  ///< one a row, or empty

  Place query(Index row) const noexcept {
    return {query_positions.empty() ? Position(row + query_offset) : query_positions[std::size_t(row)],
            Position(row)};
  }
  Place key(Index row) const noexcept {
    return {key_positions.empty() ? Position(row) : key_positions[std::size_t(row)], Position(row)};
  }
  bool explicit_positions() const noexcept { return !query_positions.empty() || !key_positions.empty(); }
};

/// One call of attention, with every default filled in and every shape checked.
template <class Scalar>
struct Problem {
  Operand<const Scalar> query, key, value;
  Index heads = 1, kv_heads = 1, head_dim = 0, value_dim = 0;
  Scalar scale{};
  RaggedRows query_rows, key_rows;
  std::optional<Index> query_offset;  ///< align_last is resolved per sequence
  bool align_last = false;
  std::span<const Position> query_positions{}, key_positions{};  ///< over all sequences
  Dropout dropout{};
  Executor executor{};
  const Plans* plans = nullptr;  ///< none: dense
  InstructionSet instruction_set = InstructionSet::baseline;

  Index sequences() const noexcept { return query_rows.sequences(); }
  Index kv_head(Index head) const noexcept { return head / (heads / kv_heads); }

  Geometry geometry(Index sequence) const {
    const Range q = query_rows[sequence], k = key_rows[sequence];
    Geometry g;
    g.q_len = q.size();
    g.k_len = k.size();
    g.query_offset = Position(align_last ? g.k_len - g.q_len : query_offset.value_or(0));
    if (!query_positions.empty())
      g.query_positions = query_positions.subspan(std::size_t(q.begin), std::size_t(q.size()));
    if (!key_positions.empty())
      g.key_positions = key_positions.subspan(std::size_t(k.begin), std::size_t(k.size()));
    return g;
  }

  Context context(Index sequence, Index head) const {
    const Geometry g = geometry(sequence);
    Context c;
    c.head = head;
    c.heads = heads;
    c.sequence = sequence;
    c.sequences = sequences();
    c.query_rows = query_rows[sequence];
    c.key_rows = key_rows[sequence];
    if (g.q_len == 0 || g.k_len == 0) return c;
    Range q{g.query(0).position, g.query(g.q_len - 1).position},
        k{g.key(0).position, g.key(g.k_len - 1).position};
    for (Position p : g.query_positions) q = {std::min<Index>(q.begin, p), std::max<Index>(q.end, p)};
    for (Position p : g.key_positions) k = {std::min<Index>(k.begin, p), std::max<Index>(k.end, p)};
    c.relative = {k.begin - q.end, k.end - q.begin + 1};
    return c;
  }
};

/// Where results go: output (sequence, row, head, column) and log-sum-exp [row over all sequences][head].
template <class Scalar>
struct ForwardResult {
  Operand<Scalar> output;
  MatrixRef<Scalar> lse;
};

/// What backward reads besides the problem, and where it writes. Gradients start at zero.
template <class Scalar>
struct BackwardTerms {
  Operand<const Scalar> output, d_output;
  ConstMatrixRef<Scalar> lse;
  ConstMatrixRef<Scalar> d_lse;  ///< [q_rows, heads], or empty: zero
  Operand<Scalar> d_query, d_key, d_value;
};

}  // namespace headwise::kernel
