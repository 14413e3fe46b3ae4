#pragma once

#include <headwise/attention/attend.hpp>

#include "report/results.hpp"

/// The calls that are timed: the library's own verb, as any user writes it.
namespace headwise::report {

/// Operands of one call, [seq_len, heads * head_dim], normally distributed.
struct Operands {
  Matrix<float> query, key, value, d_output;
};

Operands make_operands(Index seq_len);

/// The same for the first rows only: no new random numbers, which take longer than short calls.
Operands first_rows(const Operands& operands, Index seq_len);

/// attend_with_lse(query, key, value, {.heads = 8}, mask, score) of the pattern.
Attended<float> run_forward(Pattern pattern, const Operands& operands);

/// attend_backward of the same; returns one number of the gradients, so that none is optimised away.
float run_backward(Pattern pattern, const Operands& operands, const Attended<float>& attended);

/// What the library's own `explain` says of one head.
TileUse explain_pattern(Pattern pattern, Index seq_len);

}  // namespace headwise::report
