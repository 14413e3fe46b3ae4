#include <headwise/attention/attend.hpp>
#include <headwise/core/random.hpp>
#include <headwise/mask/causal.hpp>
#include <headwise/mask/sliding_window.hpp>
#include <headwise/score/alibi.hpp>

#include "report/attention_calls.hpp"

namespace headwise::report {

Operands make_operands(Index seq_len) {
  Rng rng(7);
  const auto one = [&] { return normal(seq_len, heads * head_dim, 1.0f, rng); };
  return {one(), one(), one(), one()};
}

Operands first_rows(const Operands& x, Index seq_len) {
  return {x.query.topRows(seq_len), x.key.topRows(seq_len), x.value.topRows(seq_len),
          x.d_output.topRows(seq_len)};
}

Attended<float> run_forward(Pattern pattern, const Operands& x) {
  const AttendOptions options{.heads = heads};
  switch (pattern) {
    case Pattern::dense:
      return attend_with_lse(x.query, x.key, x.value, options);
    case Pattern::causal:
      return attend_with_lse(x.query, x.key, x.value, options, mask::Causal{});
    case Pattern::windowed:
      return attend_with_lse(x.query, x.key, x.value, options, mask::SlidingWindow{.width = window_width});
    case Pattern::alibi:
      return attend_with_lse(x.query, x.key, x.value, options, mask::Causal{}, score::Alibi{heads});
  }
  return {};
}

}  // namespace headwise::report
